// tests/report/symbols/python_lines_test.cpp — lines of Python's three tables, and of hostile ones.
#include "report/symbols/python_lines.hpp"

#include <climits>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>

#include <gtest/gtest.h>

using namespace vramscope;
using format::LineTable;
using report::python_line;

namespace {

std::string bytes(std::initializer_list<int> values)
{
    return {values.begin(), values.end()};
}

} // namespace

TEST(PythonLines, FollowLineNumbers)
{
    const std::string table = bytes({0, 1, 4, 2, 6, -3}); // lines 11, 13 from 4 on, 10 from 10 on
    for (const auto& [offset, line] : {std::pair{0, 11}, {3, 11}, {4, 13}, {9, 13}, {10, 10}})
        EXPECT_EQ(python_line(LineTable::line_numbers, table, 10, offset), line) << offset;
}

TEST(PythonLines, FollowLineRanges)
{
    const std::string table = bytes({4, 1, 2, -128, 6, -3});
    for (const auto& [offset, line] : {std::pair{0, 11}, {2, 11}, {4, 0}, {6, 8}, {12, 0}})
        EXPECT_EQ(python_line(LineTable::line_ranges, table, 10, offset), line) << offset;
}

TEST(PythonLines, FollowLocations)
{
    // One unit at the first line; two units a line later, with columns; one without a line; one
    // three lines back without columns; one 40 lines on, which says all that there is to say.
    const std::string table = bytes({0x80, 0x11, 0x80 | 11 << 3 | 1, 1, 2, 0xf8, 0x80 | 13 << 3, 7,
                                     0x80 | 14 << 3, 64 | 16, 1, 0, 1, 2});
    for (const auto& [offset, line] :
         {std::pair{0, 10}, {2, 11}, {4, 11}, {6, 0}, {8, 8}, {10, 48}, {12, 0}})
        EXPECT_EQ(python_line(LineTable::locations, table, 10, offset), line) << offset;
}

TEST(PythonLines, WithoutATableAreTheOffsets)
{
    for (const auto& [offset, line] : {std::pair{std::uint64_t{0}, 0},
                                       {7, 7},
                                       {INT_MAX, INT_MAX},
                                       {1u << 31, 0},
                                       {UINT64_MAX, 0}})
        EXPECT_EQ(python_line(LineTable::none, {}, 10, offset), line) << offset;
}

TEST(PythonLines, ComeToAnEndInHostileTables)
{
    std::mt19937 random(1);
    for (int round = 0; round < 3000; ++round) {
        std::string table(random() % 40, '\0');
        for (char& byte : table)
            byte = static_cast<char>(random());
        for (const LineTable kind :
             {LineTable::line_numbers, LineTable::line_ranges, LineTable::locations})
            EXPECT_GE(python_line(kind, table, random(), random() % 64), 0);
    }
}
