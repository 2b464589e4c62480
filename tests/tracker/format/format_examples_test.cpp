// tests/tracker/format/format_examples_test.cpp — the examples of tracker/format/README.md hold.
//
// They are parsed out of the page. An example's bytes must decode to its fields, and the code that
// writes such a record must give these bytes.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/recorded_log.hpp"
#include "tests/tracker/fixture/format_page.hpp"
#include "tracker/log/chunk_writer.hpp"

using namespace vramscope;
using format::Tag;
using test::DecodedRecord;
using test::number;
using test::RecordLayout;

namespace {

using Fields = std::map<std::string, std::string>;

struct Example {
    std::string record;
    Fields before;
    Fields fields;
    std::vector<std::uint8_t> bytes;
};

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
    for (const std::string& line : test::page()) {
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

Tag tag_named(const std::string& name)
{
    return std::ranges::find(test::record_layouts(), name, &RecordLayout::name)->tag;
}

format::DeltaState deltas_before(const Example& example)
{
    const auto n = [&](const char* field) {
        return example.before.contains(field) ? number(example.before.at(field)) : 0;
    };
    const auto id = [&](const char* field) { return static_cast<std::uint32_t>(n(field)); };
    return {n("ticks"), n("address"), {}, {id("api"), id("stack")}};
}

// The bytes that the writing code gives for this record.
class Written {
public:
    explicit Written(const Example& example) : example_(example)
    {
        thread_.chunk = &chunk_.header;
        thread_.at = chunk_.payload;
        thread_.end = chunk_.payload + sizeof chunk_.payload;
        thread_.deltas = deltas_before(example);
    }

    std::vector<std::uint8_t> bytes()
    {
        const Tag tag = tag_named(example_.record);
        if (format::Records::of_tag(tag, [&]<typename R>() { write<R>(); }))
            return {chunk_.payload, chunk_.payload + chunk_.header.committed};
        const std::uint8_t* const begin = chunk_.payload;
        return {begin, hot(tag)};
    }

private:
    template <typename R>
    void write()
    {
        R record;
        format::for_each_field(record, [&](std::string_view name, auto& field) {
            set(example_.fields.at(std::string(name)), field);
        });
        const format::Moment moment{example_.fields.contains("ticks") ? n("ticks") : 0,
                                    example_.fields.contains("api") ? n("api") : 0};
        EXPECT_TRUE(log::write(thread_, moment, record));
    }

    const std::uint8_t* hot(Tag tag)
    {
        if (tag == Tag::place)
            return format::encode_place(chunk_.payload,
                                        {n("context"), static_cast<std::int64_t>(n("device")),
                                         n("stream"), n("pool"), n("capturing") != 0});
        if (tag == Tag::free)
            return format::encode_free(
                chunk_.payload, {n("api"), n("ticks"), n("address"), n("stack")}, thread_.deltas);
        const bool pooled = tag == Tag::pooled;
        return format::encode_alloc(chunk_.payload,
                                    {n("api"), n("ticks"), n("address"), n("bytes"), n("stack"),
                                     format::Memory::none, pooled, pooled ? n("slack") : 0},
                                    thread_.deltas);
    }

    template <typename Field>
    void set(const std::string& text, Field& field)
    {
        if constexpr (std::is_same_v<Field, std::string_view>)
            field = texts_.emplace_back(unescaped(text));
        else if constexpr (std::is_same_v<Field, format::Addresses>)
            field.first = read_addresses(text);
        else if constexpr (std::is_same_v<Field, format::PythonFrames>)
            field.first = read_frames(text);
        else if constexpr (std::is_same_v<Field, bool>)
            field = number(text) != 0;
        else
            field = static_cast<Field>(number(text));
    }
    const std::uintptr_t* read_addresses(const std::string& list)
    {
        std::istringstream stream(list);
        for (std::string address; std::getline(stream, address, ',');)
            addresses_.push_back(number(address));
        return addresses_.data();
    }
    const format::PythonFrame* read_frames(const std::string& list)
    {
        std::istringstream stream(list);
        for (format::PythonFrame frame; stream.good(); stream.ignore()) {
            char colon = 0;
            stream >> frame.native >> colon >> frame.code >> colon >> frame.offset;
            frames_.push_back(frame);
        }
        return frames_.data();
    }
    std::uint64_t n(const char* field) { return number(example_.fields.at(field)); }

    struct Chunk {
        format::ChunkHeader header{};
        std::uint8_t payload[1000]{};
    };
    const Example& example_;
    Chunk chunk_;
    log::Thread thread_{};
    std::deque<std::string> texts_;
    std::vector<std::uintptr_t> addresses_;
    std::vector<format::PythonFrame> frames_;
};

// The example's bytes after a free, which sets the running values.
std::vector<std::uint8_t> with_free_before(const Example& example)
{
    std::uint8_t buffer[format::kMaxHotBytes];
    format::DeltaState deltas{number(example.before.at("ticks")), 0};
    const format::DeltaState wanted = deltas_before(example);
    std::uint8_t* const end = format::encode_free(
        buffer, {wanted.free.api, wanted.ticks, wanted.address, wanted.free.stack}, deltas);
    std::vector<std::uint8_t> bytes(+buffer, end);
    bytes.insert(bytes.end(), example.bytes.begin(), example.bytes.end());
    return bytes;
}

DecodedRecord decoded(const Example& example)
{
    const auto bytes = with_free_before(example);
    auto records = test::decode_payload(bytes, number(example.before.at("ticks")));
    EXPECT_EQ(records.size(), 2u);
    return records.back();
}

void expect_fields(const DecodedRecord& record, const Example& example)
{
    std::size_t compared = 0;
    for (const auto& [name, kind] : record.layout->fields) {
        ASSERT_TRUE(example.fields.contains(name)) << name;
        const std::string& wanted = example.fields.at(name);
        ++compared;
        if (kind == "text") {
            EXPECT_EQ(record.text(name), unescaped(wanted)) << name;
        } else if (name == "addresses") {
            std::string list;
            for (const std::uint64_t frame : record.frames) {
                char text[32];
                std::snprintf(text, sizeof text, "%s0x%lx", list.empty() ? "" : ",", frame);
                list += text;
            }
            EXPECT_EQ(list, wanted);
        } else if (name == "frames") {
            std::string list;
            for (std::size_t at = 0; at < record.frames.size(); ++at)
                list += (at == 0       ? ""
                         : at % 3 == 0 ? ","
                                       : ":") +
                        std::to_string(record.frames[at]);
            EXPECT_EQ(list, wanted);
        } else {
            EXPECT_EQ(record.number(name), number(wanted)) << name;
        }
    }
    EXPECT_EQ(compared, example.fields.size());
}

} // namespace

TEST(FormatPage, HasAnExampleOfEveryRecord)
{
    std::set<std::string> shown;
    for (const Example& example : examples())
        shown.insert(example.record);
    for (const RecordLayout& layout : test::record_layouts())
        EXPECT_TRUE(shown.contains(layout.name)) << layout.name;
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
        EXPECT_EQ(Written(example).bytes(), example.bytes);
        ++compared;
    }
    EXPECT_GT(compared, std::size(format::Records::kLayouts));
}
