// tests/support/recorded_log.cpp — a decoder driven by the tables of the format's page.
#include "tests/support/recorded_log.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace vramscope::test {
namespace {

using format::Tag;

[[noreturn]] void refuse(const std::string& what)
{
    throw std::runtime_error("log: " + what);
}

std::string stripped(const std::string& text)
{
    const std::size_t first = text.find_first_not_of(' ');
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// | 0x2b | mark | ticks, name text |
RecordLayout read_row(const std::string& line)
{
    std::istringstream cells(line.substr(1));
    std::string tag, name, fields;
    std::getline(std::getline(std::getline(cells, tag, '|'), name, '|'), fields, '|');
    RecordLayout layout{static_cast<Tag>(std::stoi(tag, nullptr, 16)), stripped(name), {}};
    std::istringstream list(fields);
    for (std::string field; std::getline(list, field, ',');) {
        std::istringstream words(field);
        RecordLayout::Field& added = layout.fields.emplace_back();
        words >> added.name >> added.kind;
    }
    return layout;
}

class PayloadDecoder {
public:
    PayloadDecoder(std::span<const std::uint8_t> payload, std::uint64_t base_ticks,
                   std::uint32_t thread)
        : in_(payload.data(), payload.data() + payload.size()), thread_(thread)
    {
        deltas_.ticks = base_ticks;
    }

    std::vector<DecodedRecord> run()
    {
        std::vector<DecodedRecord> records;
        while (!in_.at_end())
            one(records);
        return records;
    }

private:
    void one(std::vector<DecodedRecord>& records)
    {
        const std::uint8_t byte = in_.u8();
        const Tag tag = format::tag_of(byte);
        const auto layout = std::ranges::find(record_layouts(), tag, &RecordLayout::tag);
        if (layout == record_layouts().end())
            refuse("record with tag " + std::to_string(byte));
        DecodedRecord record{&*layout, 0, thread_, {}, {}, {}, place_};
        if (byte < 0x20 || tag < Tag::info)
            hot(record, byte);
        else
            prefixed(record);
        if (!in_.ok())
            refuse("a record goes beyond the committed bytes");
        records.push_back(std::move(record));
    }

    void hot(DecodedRecord& record, std::uint8_t byte)
    {
        if (record.tag() == Tag::alloc) {
            const format::Alloc event = format::decode_alloc(in_, byte, deltas_);
            record.numbers = {event.api, event.ticks, event.address, event.bytes, event.stack};
        } else if (record.tag() == Tag::pooled) {
            const format::Alloc event = format::decode_alloc(in_, byte, deltas_);
            record.numbers = {event.api,   event.ticks, event.address,
                              event.bytes, event.stack, event.slack};
        } else if (record.tag() == Tag::free) {
            const format::Free event = format::decode_free(in_, byte, deltas_);
            record.numbers = {event.api, event.ticks, event.address, event.stack};
        } else {
            place_ = format::decode_place(in_);
            record.numbers = {place_.context, static_cast<std::uint64_t>(place_.device),
                              place_.stream, place_.pool, place_.capturing};
        }
    }

    void prefixed(DecodedRecord& record)
    {
        const std::string_view bytes = in_.prefixed_text();
        const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
        format::Cursor body(begin, begin + bytes.size());
        for (const RecordLayout::Field& field : record.layout->fields) {
            if (field.kind == "text")
                record.texts.emplace_back(body.prefixed_text());
            else if (field.kind == "signed")
                record.numbers.push_back(static_cast<std::uint64_t>(body.signed_varint()));
            else if (field.name == "ticks" && field.kind != "plain")
                record.numbers.push_back(format::get_ticks(body, deltas_));
            else if (field.name == "addresses")
                addresses(record, body);
            else if (field.name == "frames")
                python_frames(record, body);
            else
                record.numbers.push_back(body.varint());
        }
        if (!body.ok() || !body.at_end())
            refuse("the body of a record " + record.layout->name + " has another length");
        if (record.tag() == Tag::thread)
            record.thread = thread_ = static_cast<std::uint32_t>(record.number("index"));
    }

    static void addresses(DecodedRecord& record, format::Cursor& body)
    {
        for (std::uint64_t left = record.number("count"); left && body.ok(); --left)
            record.frames.push_back(record.frames.empty()
                                        ? body.varint()
                                        : record.frames.back() +
                                              static_cast<std::uint64_t>(body.signed_varint()));
    }

    static void python_frames(DecodedRecord& record, format::Cursor& body)
    {
        std::uint64_t native = 0;
        for (std::uint64_t left = record.number("count"); left && body.ok(); --left) {
            native += body.varint();
            record.frames.push_back(native);
            record.frames.push_back(body.varint());
            record.frames.push_back(body.varint());
        }
    }

    format::Cursor in_;
    std::uint32_t thread_;
    format::DeltaState deltas_;
    format::Place place_;
};

std::vector<std::uint8_t> read_file(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file)
        refuse("cannot open " + path);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

const std::vector<RecordLayout>& record_layouts()
{
    static const auto all = [] {
        std::ifstream page(VRAMSCOPE_SOURCE_DIR "/tracker/format/README.md");
        std::vector<RecordLayout> rows;
        for (std::string line; std::getline(page, line);)
            if (line.starts_with("| 0x"))
                rows.push_back(read_row(line));
        if (rows.empty())
            refuse("no table of records in tracker/format/README.md");
        return rows;
    }();
    return all;
}

std::uint64_t DecodedRecord::number(std::string_view wanted) const
{
    std::size_t at = 0;
    for (const RecordLayout::Field& field : layout->fields) {
        if (field.name == wanted)
            return numbers.at(at);
        at += field.kind != "text";
    }
    refuse("no number " + std::string(wanted) + " in a record " + layout->name);
}

const std::string& DecodedRecord::text(std::string_view wanted) const
{
    std::size_t at = 0;
    for (const RecordLayout::Field& field : layout->fields) {
        if (field.name == wanted)
            return texts.at(at);
        at += field.kind == "text";
    }
    refuse("no text " + std::string(wanted) + " in a record " + layout->name);
}

std::vector<DecodedRecord> decode_payload(std::span<const std::uint8_t> payload,
                                          std::uint64_t base_ticks, std::uint32_t thread)
{
    return PayloadDecoder(payload, base_ticks, thread).run();
}

std::vector<DecodedRecord> RecordedLog::all(format::Tag tag) const
{
    std::vector<DecodedRecord> found;
    std::ranges::copy_if(records, std::back_inserter(found),
                         [&](const DecodedRecord& record) { return record.tag() == tag; });
    return found;
}

std::size_t RecordedLog::count(format::Tag tag) const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        records, [&](const DecodedRecord& record) { return record.tag() == tag; }));
}

std::string RecordedLog::info(std::string_view key) const
{
    for (const DecodedRecord& record : records)
        if (record.tag() == Tag::info && record.text("key") == key)
            return record.text("value");
    return {};
}

std::vector<std::uint64_t> RecordedLog::frames_of(std::uint64_t stack) const
{
    const auto at = stacks.find(stack);
    if (at == stacks.end())
        refuse("no stack " + std::to_string(stack));
    return records.at(at->second).frames;
}

RecordedLog read_recorded_log(const std::string& path)
{
    const std::vector<std::uint8_t> bytes = read_file(path);
    RecordedLog log{};
    if (bytes.size() < sizeof log.header)
        refuse("no whole header");
    std::memcpy(&log.header, bytes.data(), sizeof log.header);
    if (std::memcmp(log.header.magic, format::kMagic, sizeof format::kMagic) != 0)
        refuse("wrong magic");
    for (std::uint32_t index = 0; index < log.header.chunks; ++index) {
        const std::size_t offset = format::kHeaderBytes + std::size_t{index} * format::kChunkBytes;
        if (offset + format::kChunkBytes > bytes.size())
            break; // handed out on a full disk
        format::ChunkHeader chunk;
        std::memcpy(&chunk, bytes.data() + offset, sizeof chunk);
        if (chunk.magic != format::kChunkMagic)
            continue; // handed out, not begun
        if (chunk.index != index || chunk.committed > format::kChunkPayloadBytes)
            refuse("a damaged chunk header");
        log.chunks.push_back(chunk);
        for (DecodedRecord& record :
             decode_payload({bytes.data() + offset + sizeof chunk, chunk.committed},
                            chunk.base_ticks, chunk.lane)) {
            record.chunk = index;
            if (record.tag() == Tag::stack)
                log.stacks.emplace(record.number("id"), log.records.size());
            log.records.push_back(std::move(record));
        }
    }
    return log;
}

} // namespace vramscope::test
