// tests/report/job/joined_table_test.cpp — a join of joins is one join, and nothing of a bad table is in it.
#include "report/job/joined_table.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "tests/support/reduced_end.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kTableHead = "{\"type\":\"reduced\",\"version\":2}\n";

std::string lines_of(const std::string& rank, int pid)
{
    return "{\"type\":\"process\",\"log\":\"a.vsl\",\"rank\":" + rank +
           ",\"pid\":" + std::to_string(pid) + "}\n{\"type\":\"later\",\"x\":1}\n";
}

std::string table_of(const std::string& rank, int pid)
{
    return test::with_end(kTableHead + lines_of(rank, pid));
}

std::string text_of(JoinedTable& table)
{
    std::string text;
    table.write([&text](const std::string& part) { text += part; });
    return text;
}

std::string text_of_join(const std::vector<std::string>& tables)
{
    JoinedTable table;
    for (const std::string& text : tables) {
        std::istringstream in(text);
        table.add(in, "t");
    }
    return text_of(table);
}

TEST(JoinedTable, IsTheSameInEveryOrderAndGrouping)
{
    std::vector<std::string> tables;
    for (const char* rank : {"0", "1", "2", "10", "10", "null"})
        for (const int pid : {7, 5})
            tables.push_back(table_of(rank, pid));
    const std::string all = text_of_join(tables);
    EXPECT_EQ(all.find(lines_of("0", 5)), std::string(kTableHead).size()) << "by rank, then by pid";
    EXPECT_LT(all.find(lines_of("2", 7)), all.find(lines_of("10", 5)));
    EXPECT_GT(all.find(lines_of("null", 5)), all.find(lines_of("10", 7)));
    std::mt19937 random(1);
    for (int turn = 0; turn < 20; ++turn) {
        std::shuffle(tables.begin(), tables.end(), random);
        const auto middle = tables.begin() + static_cast<std::ptrdiff_t>(1 + random() % 10);
        EXPECT_EQ(text_of_join({text_of_join({tables.begin(), middle}),
                                text_of_join({middle, tables.end()})}),
                  all);
    }
}

TEST(JoinedTable, OfALogThatWasReadHereIsTheSame)
{
    JoinedTable table;
    std::istringstream own(table_of("3", 1));
    table.add_own(own);
    std::istringstream other(table_of("2", 1));
    table.add(other, "t");
    EXPECT_EQ(text_of(table), test::with_end(kTableHead + lines_of("2", 1) + lines_of("3", 1)));
}

TEST(JoinedTable, HasNothingOfATableThatCannotBeRead)
{
    JoinedTable table;
    std::istringstream good(table_of("3", 1));
    table.add(good, "good");
    for (const std::string& bad :
         {std::string("nothing"), kTableHead + lines_of("1", 1) + "{\n", std::string(kTableHead),
          kTableHead + lines_of("1", 1), table_of("1", 1) + lines_of("2", 1),
          test::with_end("{\"type\":\"reduced\",\"version\":1}\n" + lines_of("1", 1))}) {
        std::istringstream in(bad);
        EXPECT_THROW(table.add(in, "bad"), Error) << bad;
    }
    EXPECT_EQ(text_of(table), table_of("3", 1));
}

} // namespace
} // namespace vramscope::report
