// tests/tracker/format_spec_test.cpp — tracker/format/README.md says what the code does.
//
// Offsets, field rows and worked examples are parsed out of the page. An example's bytes must
// decode to its fields, and the code that writes such a record must give these bytes.
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/recorded_log.hpp"
#include "tracker/log/pool_recorder.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::RecordLayout;

namespace {

using Fields = std::map<std::string, std::string>;

struct Example {
    std::string record;
    Fields before;
    Fields fields;
    std::vector<std::uint8_t> bytes;
};

std::vector<std::string> page()
{
    std::ifstream file(VRAMSCOPE_SOURCE_DIR "/tracker/format/README.md");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

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

// Rows of the table under a heading, by the first cell's form.
std::vector<std::vector<std::string>> rows_under(const std::string& heading,
                                                 const std::string& first_chars)
{
    std::vector<std::vector<std::string>> rows;
    bool inside = false;
    for (const std::string& line : page()) {
        if (line.starts_with("## "))
            inside = line == "## " + heading;
        else if (inside && line.starts_with("| ") && first_chars.find(line[2]) != std::string::npos)
            rows.push_back(cells_of(line));
    }
    return rows;
}

// name=value name="text", a text with \xx for other bytes.
Fields parse_fields(const std::string& line)
{
    Fields fields;
    for (std::size_t at = line.find(' '); at < line.size();) {
        at = line.find_first_not_of(' ', at);
        if (at == line.npos)
            break;
        const std::size_t equals = line.find('=', at);
        const std::string name = line.substr(at, equals - at);
        if (line.at(equals + 1) == '"') {
            const std::size_t quote = line.find('"', equals + 2);
            fields[name] = line.substr(equals + 2, quote - equals - 2);
            at = quote + 1;
        } else {
            const std::size_t space = std::min(line.find(' ', equals), line.size());
            fields[name] = line.substr(equals + 1, space - equals - 1);
            at = space;
        }
    }
    return fields;
}

std::uint64_t number(const std::string& text)
{
    return text.starts_with('-') ? static_cast<std::uint64_t>(std::stoll(text))
                                 : std::stoull(text, nullptr, 0);
}

std::string unescaped(const std::string& text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            result += text[i];
            continue;
        }
        result += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return result;
}

void append_bytes(const std::string& line, std::vector<std::uint8_t>& bytes)
{
    std::istringstream words(line.substr(0, std::min(line.find("  "), line.size())));
    for (std::string word; words >> word;)
        bytes.push_back(static_cast<std::uint8_t>(std::stoi(word, nullptr, 16)));
}

std::vector<Example> examples()
{
    std::vector<Example> found;
    std::size_t line_in_example = 0;
    for (const std::string& line : page()) {
        if (line == "```example") {
            found.emplace_back();
            line_in_example = 1;
        } else if (line.starts_with("```")) {
            line_in_example = 0;
        } else if (line_in_example == 1) {
            found.back().before = parse_fields(line);
            ++line_in_example;
        } else if (line_in_example == 2) {
            found.back().record = line.substr(0, line.find(' '));
            found.back().fields = parse_fields(line);
            ++line_in_example;
        } else if (line_in_example) {
            append_bytes(line, found.back().bytes);
        }
    }
    return found;
}

format::DeltaState deltas_before(const Example& example)
{
    return {number(example.before.at("ticks")), number(example.before.at("address"))};
}

// What the code that writes this record writes; nothing: it takes its time itself.
class Written {
public:
    explicit Written(const Example& example) : example_(example)
    {
        thread_.chunk = &chunk_.header;
        thread_.at = chunk_.payload;
        thread_.end = chunk_.payload + sizeof chunk_.payload;
        thread_.deltas = deltas_before(example);
    }

    std::optional<std::vector<std::uint8_t>> bytes()
    {
        if (example_.record == "alloc")
            return hot(format::encode_alloc(
                chunk_.payload,
                {n("api"), n("ticks"), n("address"), n("bytes"), n("stack"), format::Memory::none},
                thread_.deltas));
        if (example_.record == "pooled")
            return hot(format::encode_alloc(chunk_.payload,
                                            {n("api"), n("ticks"), n("address"), n("bytes"),
                                             n("stack"), format::Memory::none, true, n("slack")},
                                            thread_.deltas));
        if (example_.record == "free")
            return hot(format::encode_free(
                chunk_.payload, {n("api"), n("ticks"), n("address"), n("stack")}, thread_.deltas));
        if (example_.record == "place")
            return hot(format::encode_place(chunk_.payload,
                                            {n("context"), static_cast<std::int64_t>(n("device")),
                                             n("stream"), n("pool"), n("capturing") != 0}));
        if (!record())
            return std::nullopt;
        return std::vector<std::uint8_t>(chunk_.payload, chunk_.payload + chunk_.header.committed);
    }

private:
    bool record()
    {
        const std::string& name = example_.record;
        if (name == "info")
            log::record_info(thread_, t("key"), t("value"));
        else if (name == "api")
            log::record_api(thread_, n("id"),
                            {t("name").c_str(), static_cast<format::Effect>(n("effect")),
                             static_cast<format::Memory>(n("memory"))});
        else if (name == "thread")
            log::record_thread(thread_, static_cast<std::uint32_t>(n("index")),
                               static_cast<std::uint32_t>(n("tid")), t("name"));
        else if (name == "context")
            log::record_context(thread_, n("id"), n("handle"), static_cast<int>(n("device")),
                                n("primary") != 0);
        else if (name == "context_gone")
            log::record_context_gone(thread_, n("api"), n("ticks"), n("id"),
                                     static_cast<std::uint32_t>(n("stack")));
        else if (name == "device")
            log::record_device(thread_, static_cast<int>(n("ordinal")), n("bytes"), t("name"));
        else if (name == "pool")
            log::record_pool(thread_, {n("handle"), static_cast<int>(n("location_type")),
                                       static_cast<int>(n("location")), n("managed") != 0});
        else if (name == "unmap")
            log::record_unmap(thread_, n("api"), n("ticks"), n("address"), n("bytes"));
        else if (name == "segment_gone")
            log::record_segment_gone(thread_, n("ticks"), n("address"),
                                     static_cast<format::SegmentEnd>(n("end")));
        else if (name == "device_memory")
            log::record_device_memory(thread_, n("ticks"), static_cast<int>(n("device")), n("free"),
                                      n("total"));
        else if (name == "driver_time")
            log::record_driver_time(thread_, n("ticks"),
                                    {n("api"), n("calls"), n("total"), n("longest")});
        else
            return false;
        return true;
    }
    std::vector<std::uint8_t> hot(const std::uint8_t* end)
    {
        const std::uint8_t* const begin = chunk_.payload;
        return {begin, end};
    }
    std::uint64_t n(const char* field) { return number(example_.fields.at(field)); }
    std::string t(const char* field) { return unescaped(example_.fields.at(field)); }

    struct Chunk {
        format::ChunkHeader header{};
        std::uint8_t payload[1000]{};
    };
    const Example& example_;
    Chunk chunk_;
    log::Thread thread_{};
};

// The example's bytes behind a free, which sets the running address.
std::vector<std::uint8_t> with_address_before(const Example& example)
{
    std::uint8_t buffer[format::kMaxHotBytes];
    format::DeltaState deltas{number(example.before.at("ticks")), 0};
    const format::DeltaState wanted = deltas_before(example);
    std::uint8_t* const end =
        format::encode_free(buffer, {0, wanted.ticks, wanted.address, 0}, deltas);
    std::vector<std::uint8_t> bytes(+buffer, end);
    bytes.insert(bytes.end(), example.bytes.begin(), example.bytes.end());
    return bytes;
}

DecodedRecord decoded(const Example& example)
{
    const auto bytes = with_address_before(example);
    auto records = test::decode_payload(bytes, number(example.before.at("ticks")));
    EXPECT_EQ(records.size(), 2u);
    return records.back();
}

std::vector<std::string> words_of(std::string_view fields)
{
    std::istringstream stream{std::string(fields)};
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

void expect_fields(const DecodedRecord& record, const Example& example)
{
    std::size_t compared = 0;
    for (const std::string& word : words_of(record.layout->fields)) {
        const std::string name = word.substr(0, word.find(':'));
        ASSERT_TRUE(example.fields.contains(name)) << name;
        const std::string& wanted = example.fields.at(name);
        ++compared;
        if (word.ends_with(":text")) {
            EXPECT_EQ(record.text(name), unescaped(wanted)) << name;
        } else if (name == "addresses") {
            std::string list;
            for (const std::uint64_t frame : record.frames) {
                char text[32];
                std::snprintf(text, sizeof text, "%s0x%lx", list.empty() ? "" : ",", frame);
                list += text;
            }
            EXPECT_EQ(list, wanted);
        } else {
            EXPECT_EQ(record.number(name), number(wanted)) << name;
        }
    }
    EXPECT_EQ(compared, example.fields.size());
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
                                   MEMBER(H, snapshot_ticks)});
    EXPECT_EQ(offsetof(H, reserved), offsetof(H, snapshot_ticks) + 8) << "a field is missing above";
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
    EXPECT_EQ(number(meaning("byte_order")), format::kByteOrder);
}

TEST(FormatPage, HasARowForEveryRecord)
{
    const auto rows = rows_under("Records", "0");
    const auto layouts = test::record_layouts();
    ASSERT_EQ(rows.size(), layouts.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const RecordLayout& layout = layouts[i];
        EXPECT_EQ(number(rows[i].at(0)), static_cast<std::uint64_t>(layout.tag));
        EXPECT_EQ(rows[i].at(1), layout.name);
        std::string fields;
        for (std::string word : words_of(layout.fields)) {
            if (const std::size_t colon = word.find(':'); colon != word.npos)
                word[colon] = ' ';
            fields += fields.empty() ? word : ", " + word;
        }
        EXPECT_EQ(rows[i].at(2), fields);
    }
}

TEST(FormatPage, HasAnExampleOfEveryRecord)
{
    std::set<std::string> shown;
    for (const Example& example : examples())
        shown.insert(example.record);
    for (const RecordLayout& layout : test::record_layouts())
        EXPECT_TRUE(shown.contains(std::string(layout.name))) << layout.name;
}

TEST(FormatPage, ItsExamplesDecodeToTheirFields)
{
    for (const Example& example : examples()) {
        SCOPED_TRACE(example.record);
        const DecodedRecord record = decoded(example);
        EXPECT_EQ(record.layout->name, example.record);
        expect_fields(record, example);
    }
}

TEST(FormatPage, ItsExamplesAreWhatTheRecorderWrites)
{
    std::size_t compared = 0;
    for (const Example& example : examples()) {
        SCOPED_TRACE(example.record);
        const auto bytes = Written(example).bytes();
        if (!bytes)
            continue; // recorder_test reads these back from a real log
        EXPECT_EQ(*bytes, example.bytes);
        ++compared;
    }
    EXPECT_GE(compared, 14u);
}
