// tests/fuzz/chunk_entries.cpp — records read and written by the format's own functions.
#include "tests/fuzz/chunk_entries.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace vramscope::test {
namespace {

using namespace format;
using Bytes = std::vector<std::uint8_t>;

/// False: what is there cannot be read.
bool read_entry(Cursor& in, DeltaState& deltas, Entry& entry)
{
    const std::uint8_t byte = in.u8();
    entry.tag = tag_of(byte);
    if (entry.tag == Tag::alloc || entry.tag == Tag::pooled)
        entry.alloc = decode_alloc(in, byte, deltas);
    else if (entry.tag == Tag::free)
        entry.free = decode_free(in, byte, deltas);
    else if (entry.tag == Tag::place)
        entry.place = decode_place(in);
    else if ((byte & kLengthPrefixed) == 0)
        return false;
    else {
        const std::string_view text = in.prefixed_text();
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(text.data());
        Cursor body(begin, begin + text.size());
        if (const Layout* const layout = layout_of(entry.tag))
            entry.moment = get_head(layout->head, body, deltas);
        entry.body.assign(body.position(), body.position() + body.remaining());
        return in.ok() && body.ok();
    }
    return in.ok();
}

void append(Bytes& out, const std::uint8_t* begin, const std::uint8_t* end)
{
    out.insert(out.end(), begin, end);
}

void write_prefixed(Bytes& out, const Entry& entry, DeltaState& deltas)
{
    std::uint8_t head[2 * kMaxVarintBytes];
    std::uint8_t* end = head;
    if (const Layout* const layout = layout_of(entry.tag)) {
        if (layout->head == Head::call)
            end = put_varint(end, entry.moment.api);
        if (layout->head == Head::plain)
            end = put_varint(end, entry.moment.ticks);
        else if (layout->head != Head::definition)
            end = put_ticks(end, entry.moment.ticks, deltas);
    }
    const auto length = static_cast<std::size_t>(end - head) + entry.body.size();
    std::uint8_t prefix[1 + kMaxVarintBytes] = {static_cast<std::uint8_t>(entry.tag)};
    append(out, prefix, put_varint(prefix + 1, length));
    append(out, head, end);
    append(out, entry.body.data(), entry.body.data() + entry.body.size());
}

void write_entry(Bytes& out, const Entry& entry, DeltaState& deltas)
{
    std::uint8_t hot[kMaxHotBytes + kMaxVarintBytes];
    switch (entry.tag) {
    case Tag::alloc:
    case Tag::pooled:
        return append(out, hot, encode_alloc(hot, entry.alloc, deltas));
    case Tag::free:
        return append(out, hot, encode_free(hot, entry.free, deltas));
    case Tag::place:
        return append(out, hot, encode_place(hot, entry.place));
    default:
        return write_prefixed(out, entry, deltas);
    }
}

} // namespace

std::vector<Entry> read_entries(const std::uint8_t* payload, const ChunkHeader& header)
{
    std::vector<Entry> entries;
    Cursor in(payload, payload + header.committed);
    DeltaState deltas{.ticks = header.base_ticks};
    for (Entry entry; !in.at_end() && read_entry(in, deltas, entry); entry = {})
        entries.push_back(std::move(entry));
    return entries;
}

void write_chunk(std::uint8_t* chunk, ChunkHeader header, const std::vector<Entry>& entries,
                 std::size_t room)
{
    Bytes payload;
    DeltaState deltas{.ticks = header.base_ticks};
    for (const Entry& entry : entries) {
        const std::size_t before = payload.size();
        write_entry(payload, entry, deltas);
        if (payload.size() > room) {
            payload.resize(before);
            break;
        }
    }
    header.committed = static_cast<std::uint32_t>(payload.size());
    std::memcpy(chunk, &header, sizeof header);
    std::copy(payload.begin(), payload.end(), chunk + sizeof header);
}

} // namespace vramscope::test
