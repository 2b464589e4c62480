// tracker/format/record.hpp — the hot records: their fields, and how they are written and read.
//
// A hot record is a tag with flag bits and a fixed row of varints; its length is not written, nor
// what is as it was in the last record of its kind. Encode and decode stand side by side here, by
// hand. All other records (records.hpp) are tag, body length and body, so that a reader skips what
// it does not know. README.md has the bytes of worked examples, and tests/tracker checks them.
#pragma once

#include "tracker/format/fields.hpp"

namespace vramscope::format {

inline constexpr std::uint8_t kFineAddress = 0x40; // address delta in bytes, not 256-byte units
inline constexpr std::uint8_t kFineSize = 0x80;    // size in bytes, not in 256-byte units
// Not written, since it is that of the last event of this kind in this chunk:
inline constexpr std::uint8_t kSameApi = 0x10;   // the entry point
inline constexpr std::uint8_t kSameStack = 0x08; // the stack

// What record a tag with its flags is of.
constexpr Tag tag_of(std::uint8_t byte) noexcept
{
    constexpr std::uint8_t kHotTagMask = 0x07;
    return static_cast<Tag>(byte & kLengthPrefixed ? byte : byte & kHotTagMask);
}

struct Alloc {
    std::uint64_t api; // id of an Api record
    std::uint64_t ticks;
    std::uint64_t address; // pointer or handle
    std::uint64_t bytes;
    std::uint64_t stack;     // id of a Stack record, 0: not captured
    Memory memory;           // not in the record: from the Api, unless the place says graph
    bool pooled = false;     // it lies in a segment of the internal pool
    std::uint64_t slack = 0; // how much larger its block there is than `bytes`
};

// With `pool.guard` on, a block begins this many bytes before the address that was handed out.
inline constexpr std::uint64_t kRedZoneBytes = 512;

struct Free {
    std::uint64_t api;
    std::uint64_t ticks;
    std::uint64_t address;
    std::uint64_t stack; // id of a Stack record, 0: not captured
};

// Where the following events of the chunk happen. 0 and -1 stand for what is not known.
struct Place {
    std::uint64_t context = 0; // id of a Context record
    std::int64_t device = -1;
    std::uint64_t stream = 0; // handle as the program gave it
    std::uint64_t pool = 0;
    bool capturing = false; // the stream is being captured: allocations are Memory::graph
    bool operator==(const Place&) const = default;
};

inline constexpr std::size_t kMaxHotBytes = 1 + 6 * kMaxVarintBytes;
// A hot record that is followed by so many bytes can be decoded by a ShortCursor. `In` below is a
// ShortCursor or a Cursor.
inline constexpr std::size_t kShortCursorBytes = kMaxHotBytes + sizeof(std::uint64_t);

// Addresses from the driver are nearly always multiples of 256; so are their differences,
// which are small.
inline std::uint8_t* put_address(std::uint8_t* out, std::uint8_t& tag, std::uint64_t address,
                                 DeltaState& state) noexcept
{
    const auto delta = static_cast<std::int64_t>(address - state.address);
    state.address = address;
    if ((delta & 0xff) == 0)
        return put_varint(out, zigzag(delta >> 8));
    tag |= kFineAddress;
    return put_varint(out, zigzag(delta));
}

template <typename In>
std::uint64_t get_address(In& in, std::uint8_t tag, DeltaState& state) noexcept
{
    const auto delta = static_cast<std::uint64_t>(in.signed_varint());
    state.address += (tag & kFineAddress) ? delta : delta * 256;
    return state.address;
}

inline std::uint8_t* put_unless_same(std::uint8_t* out, std::uint8_t& tag, std::uint8_t same,
                                     std::uint64_t value, std::uint32_t& last) noexcept
{
    if (value == last) {
        tag |= same;
        return out;
    }
    last = static_cast<std::uint32_t>(value);
    return put_varint(out, value);
}

template <typename In>
std::uint64_t get_unless_same(In& in, std::uint8_t tag, std::uint8_t same,
                              std::uint32_t& last) noexcept
{
    if (!(tag & same))
        last = in.id();
    return last;
}

inline std::uint8_t* encode_alloc(std::uint8_t* out, const Alloc& event, DeltaState& state) noexcept
{
    std::uint8_t* const begin = out++;
    auto tag = static_cast<std::uint8_t>(event.pooled ? Tag::pooled : Tag::alloc);
    out = put_unless_same(out, tag, kSameApi, event.api, state.alloc.api);
    out = put_ticks(out, event.ticks, state);
    out = put_address(out, tag, event.address, state);
    if (event.bytes & 0xff) {
        tag |= kFineSize;
        out = put_varint(out, event.bytes);
    } else {
        out = put_varint(out, event.bytes / 256);
    }
    out = put_unless_same(out, tag, kSameStack, event.stack, state.alloc.stack);
    *begin = tag;
    return event.pooled ? put_varint(out, event.slack) : out;
}

template <typename In>
Alloc decode_alloc(In& in, std::uint8_t tag, DeltaState& state) noexcept
{
    Alloc event{};
    event.api = get_unless_same(in, tag, kSameApi, state.alloc.api);
    event.ticks = get_ticks(in, state);
    event.address = get_address(in, tag, state);
    event.bytes = (tag & kFineSize) ? in.varint() : in.varint() * 256;
    event.stack = get_unless_same(in, tag, kSameStack, state.alloc.stack);
    event.pooled = tag_of(tag) == Tag::pooled;
    if (event.pooled)
        event.slack = in.varint();
    return event;
}

inline std::uint8_t* encode_free(std::uint8_t* out, const Free& event, DeltaState& state) noexcept
{
    std::uint8_t* const begin = out++;
    auto tag = static_cast<std::uint8_t>(Tag::free);
    out = put_unless_same(out, tag, kSameApi, event.api, state.free.api);
    out = put_ticks(out, event.ticks, state);
    out = put_address(out, tag, event.address, state);
    out = put_unless_same(out, tag, kSameStack, event.stack, state.free.stack);
    *begin = tag;
    return out;
}

template <typename In>
Free decode_free(In& in, std::uint8_t tag, DeltaState& state) noexcept
{
    Free event{};
    event.api = get_unless_same(in, tag, kSameApi, state.free.api);
    event.ticks = get_ticks(in, state);
    event.address = get_address(in, tag, state);
    event.stack = get_unless_same(in, tag, kSameStack, state.free.stack);
    return event;
}

inline std::uint8_t* encode_place(std::uint8_t* out, const Place& place) noexcept
{
    *out++ = static_cast<std::uint8_t>(Tag::place);
    out = put_varint(out, place.context);
    out = put_varint(out, zigzag(place.device));
    out = put_varint(out, place.stream);
    out = put_varint(out, place.pool);
    return put_varint(out, place.capturing);
}

inline Place decode_place(Cursor& in) noexcept
{
    Place place;
    place.context = in.varint();
    place.device = in.signed_varint();
    place.stream = in.varint();
    place.pool = in.varint();
    place.capturing = in.varint() != 0;
    return place;
}

} // namespace vramscope::format
