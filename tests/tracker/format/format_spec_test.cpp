// tests/tracker/format/format_spec_test.cpp — the tables of tracker/format/README.md hold.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/format_page.hpp"
#include "tracker/format/fields.hpp"
#include "tracker/format/layout.hpp"
#include "tracker/format/records.hpp"

using namespace vramscope;
using format::Tag;
using test::number;

namespace {

std::vector<std::string> cells_of(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream row(line.substr(1));
    for (std::string cell; std::getline(row, cell, '|');) {
        const std::size_t first = cell.find_first_not_of(' ');
        const std::size_t last = cell.find_last_not_of(' ');
        cells.push_back(first == cell.npos ? "" : cell.substr(first, last - first + 1));
    }
    return cells;
}

// The rows of the table under a heading, chosen by the form of their first cell.
std::vector<std::vector<std::string>> rows_under(const std::string& heading,
                                                 const std::string& first_chars)
{
    std::vector<std::vector<std::string>> rows;
    bool inside = false;
    for (const std::string& line : test::page()) {
        if (line.starts_with("## "))
            inside = line == "## " + heading;
        else if (inside && line.starts_with("| ") && first_chars.find(line[2]) != std::string::npos)
            rows.push_back(cells_of(line));
    }
    return rows;
}

struct Member {
    std::string name;
    std::size_t offset;
    std::size_t bytes;
};

void expect_members(const std::string& heading, const std::vector<Member>& members)
{
    const auto rows = rows_under(heading, "0123456789");
    ASSERT_EQ(rows.size(), members.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].at(2), members[i].name);
        EXPECT_EQ(rows[i].at(0), std::to_string(members[i].offset)) << members[i].name;
        EXPECT_EQ(rows[i].at(1), std::to_string(members[i].bytes)) << members[i].name;
    }
}

#define MEMBER(type, name)                                                                         \
    Member                                                                                         \
    {                                                                                              \
#name, offsetof(type, name), sizeof(type::name)                                            \
    }

} // namespace

TEST(FormatPage, HasTheFileHeaderOfTheCode)
{
    using H = format::FileHeader;
    expect_members("File header", {MEMBER(H, magic),
                                   MEMBER(H, major),
                                   MEMBER(H, minor),
                                   MEMBER(H, byte_order),
                                   MEMBER(H, header_bytes),
                                   MEMBER(H, chunk_bytes),
                                   MEMBER(H, pid),
                                   MEMBER(H, parent_pid),
                                   MEMBER(H, clock),
                                   MEMBER(H, chunks),
                                   MEMBER(H, process_start),
                                   MEMBER(H, start_real_ns),
                                   MEMBER(H, start_ns),
                                   MEMBER(H, start_ticks),
                                   MEMBER(H, latest_ns),
                                   MEMBER(H, latest_ticks),
                                   MEMBER(H, exit_began_ticks),
                                   MEMBER(H, end),
                                   MEMBER(H, end_status),
                                   MEMBER(H, waited),
                                   MEMBER(H, wait_status),
                                   MEMBER(H, exec_seen),
                                   MEMBER(H, threads),
                                   MEMBER(H, lost),
                                   MEMBER(H, stacks_verified),
                                   MEMBER(H, stacks_unwound),
                                   MEMBER(H, verify_mismatches),
                                   MEMBER(H, snapshot_ticks),
                                   MEMBER(H, suballocated),
                                   MEMBER(H, nodes_with_origin),
                                   MEMBER(H, nodes_without_origin),
                                   MEMBER(H, python_ended_ticks),
                                   MEMBER(H, chunks_begun),
                                   MEMBER(H, unused),
                                   MEMBER(H, full_ticks),
                                   MEMBER(H, checkpoint),
                                   MEMBER(H, checkpoint_rows)});
    EXPECT_EQ(offsetof(H, reserved), offsetof(H, checkpoint_rows) + 16)
        << "a field is missing above";
}

TEST(FormatPage, HasTheChunkHeaderOfTheCode)
{
    using H = format::ChunkHeader;
    expect_members("Chunk header",
                   {MEMBER(H, magic), MEMBER(H, index), MEMBER(H, lane), MEMBER(H, ordinal),
                    MEMBER(H, base_ticks), MEMBER(H, base_ns), MEMBER(H, committed), MEMBER(H, tid),
                    MEMBER(H, pending_address), MEMBER(H, pending_ticks), MEMBER(H, pending_stack),
                    MEMBER(H, pending_api)});
    EXPECT_EQ(sizeof(H), offsetof(H, pending_api) + 4) << "a field is missing above";
}

TEST(FormatPage, HasTheChunksOfACheckpointOfTheCode)
{
    using H = format::CheckpointChunk;
    expect_members("Collected logs", {MEMBER(H, magic), MEMBER(H, index), MEMBER(H, ordinal),
                                      MEMBER(H, unused), MEMBER(H, number), MEMBER(H, bytes)});
    EXPECT_EQ(offsetof(H, reserved), offsetof(H, bytes) + 8) << "a field is missing above";
}

TEST(FormatPage, NamesTheConstantsOfTheCode)
{
    const auto rows = rows_under("File header", "0123456789");
    const auto meaning = [&](std::string_view field) {
        for (const auto& row : rows)
            if (row.at(2) == field)
                return row.at(3);
        return std::string();
    };
    EXPECT_EQ(meaning("magic"), "`" + std::string(format::kMagic, sizeof format::kMagic) + "`");
    EXPECT_TRUE(meaning("major").starts_with(std::to_string(format::kMajorVersion) + ";"));
    EXPECT_TRUE(meaning("minor").starts_with(std::to_string(format::kMinorVersion) + ";"));
    EXPECT_TRUE(meaning("header_bytes").starts_with(std::to_string(format::kHeaderBytes) + ";"));
    EXPECT_EQ(meaning("chunk_bytes"), std::to_string(format::kChunkBytes));
    EXPECT_NE(meaning("major").find(" " + std::to_string(format::kCollectedMajorVersion) + " "),
              std::string::npos);
    EXPECT_EQ(number(meaning("byte_order")), format::kByteOrder);
}

namespace {

// The fields of a record as its row in the page names them.
template <typename R>
std::string row_of_code()
{
    constexpr format::Layout kLayout = R::kLayout;
    std::vector<std::string> fields;
    if (kLayout.head == format::Head::call)
        fields.push_back("api");
    if (kLayout.head == format::Head::plain)
        fields.push_back("ticks plain");
    else if (kLayout.head != format::Head::definition)
        fields.push_back("ticks");
    R record;
    format::for_each_field(record, [&](std::string_view name, const auto& field) {
        using Field = std::remove_cvref_t<decltype(field)>;
        constexpr bool kText = std::is_same_v<Field, std::string_view>;
        constexpr bool kSigned =
            std::is_same_v<Field, std::int64_t> || std::is_same_v<Field, format::DeviceOrdinal>;
        fields.push_back(std::string(name) + (kText ? " text" : kSigned ? " signed" : ""));
    });
    std::string row;
    for (const std::string& field : fields)
        row += (row.empty() ? "" : ", ") + field;
    return row;
}

} // namespace

TEST(FormatPage, HasARowForEveryRecord)
{
    const auto rows = rows_under("Records", "0");
    std::size_t prefixed = 0;
    for (const auto& row : rows) {
        const auto tag = static_cast<Tag>(number(row.at(0)));
        prefixed += format::Records::of_tag(tag, [&]<typename R>() {
            EXPECT_EQ(row.at(1), R::kLayout.name);
            EXPECT_EQ(row.at(2), row_of_code<R>());
        });
    }
    EXPECT_EQ(prefixed, std::size(format::Records::kLayouts));
    EXPECT_EQ(rows.size(), prefixed + 4) << "the hot ones";
}
