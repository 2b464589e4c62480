// tracker/format/record.hpp — the records inside a chunk: tags, their fields, and how they are
// written and read.
//
// Two shapes. Hot records (tag < 0x20) are a tag with flag bits and a fixed row of varints. All
// others are tag, body length, body, so that a reader skips what it does not know. Encode and
// decode stand side by side; README.md has the bytes of worked examples, and tests/tracker checks
// them.
#pragma once

#include <bit>

#include "tracker/format/varint.hpp"

namespace vramscope::format {

enum class Tag : std::uint8_t {
    end = 0x00,    // never written: what an unwritten byte reads as
    alloc = 0x01,  // hot
    free = 0x02,   // hot
    place = 0x03,  // hot: where the following events of this chunk happen
    pooled = 0x04, // hot: an alloc that the internal pool served, or took from the driver to keep

    info = 0x20,   // key, value
    api = 0x21,    // an entry point: id, name, what it does
    thread = 0x22, // tid, name
    module_loaded = 0x23,
    module_gone = 0x24,
    stack = 0x25,
    context = 0x26,
    context_gone = 0x27,
    device = 0x28,
    range_push = 0x29,
    range_pop = 0x2a,
    mark = 0x2b,
    failed = 0x2c,
    map = 0x2d,
    unmap = 0x2e,
    retain = 0x2f,
    pool = 0x30,   // what a pool gives out
    shared = 0x31, // memory was given a name that others can open
    trim = 0x32,   // a pool was told to give back what it does not need
    // The internal pool (interpose/pool) between the program and the driver.
    segment = 0x33,      // memory that it took from the driver
    segment_gone = 0x34, // and that is the driver's again, or no longer the pool's to know
    reusable = 0x35,     // what was freed before a moment may be handed out again
    retried =
        0x36, // an allocation was short of memory: cached memory went back, and it was tried again
    out_of_memory = 0x37, // behind the `failed` of an allocation: how the device's memory stood
    damaged = 0x38,       // memory was written that was free, or beyond a block
    // Since 3.1; their times are plain varints.
    device_memory = 0x39, // the driver's own numbers of a device's memory
    driver_time = 0x3a,   // what calls of one entry point took in the driver, summed
};
inline constexpr std::uint8_t kTagMask = 0x3f;
inline constexpr std::uint8_t kFineAddress =
    0x40;                                       // address delta is in bytes, not in 256-byte units
inline constexpr std::uint8_t kFineSize = 0x80; // size is in bytes, not in 256-byte units

// What an entry point does to memory when it succeeds.
enum class Effect : std::uint8_t { none = 0, alloc = 1, free = 2 };

// What kind of memory an allocation is. The number is in the log.
enum class Memory : std::uint8_t {
    none = 0,
    device = 1,  // cuMemAlloc
    pitched = 2, // cuMemAllocPitch
    managed = 3,
    async = 4, // stream-ordered, from a pool
    graph = 5, // cuMemAllocAsync on a capturing stream: a graph's memory, not the program's to free
    pinned = 6,     // cuMemHostAlloc, cuMemAllocHost
    registered = 7, // cuMemHostRegister
    array = 8,
    mipmap = 9,
    physical = 10,    // cuMemCreate: a handle
    reservation = 11, // cuMemAddressReserve: addresses, no memory
    // What somebody else owns; here it is only open, and must be closed.
    imported = 12,          // a pointer: of another's pool, or a buffer of external memory
    ipc = 13,               // cuIpcOpenMemHandle: as often to be closed as it was opened
    external = 14,          // cuImportExternalMemory
    imported_mipmap = 15,   // of external memory
    imported_physical = 16, // cuMemImportFromShareableHandle: a handle, used as cuMemCreate's
    multicast = 17,         // cuMulticastCreate: a handle to bind memory to, mapped as memory is
    // Owners of memory: no bytes of their own.
    pool = 18,
    context = 19,
    green_context = 20,
    graph_exec = 21,
};

// Live blocks are found by (key space, address): a handle and a pointer may be the same number.
enum class KeySpace : std::uint8_t {
    none,
    pointer,
    host,
    registered,
    array,
    mipmap,
    physical,
    reservation,
    ipc,
    external,
    pool,
    context,
    green_context,
    graph_exec,
};

constexpr KeySpace key_space(Memory memory) noexcept
{
    switch (memory) {
    case Memory::none:
        return KeySpace::none;
    case Memory::device:
    case Memory::pitched:
    case Memory::managed:
    case Memory::async:
    case Memory::graph:
    case Memory::imported:
        return KeySpace::pointer;
    case Memory::pinned:
        return KeySpace::host;
    case Memory::registered:
        return KeySpace::registered;
    case Memory::array:
        return KeySpace::array;
    case Memory::mipmap:
    case Memory::imported_mipmap:
        return KeySpace::mipmap;
    case Memory::physical:
    case Memory::imported_physical:
    case Memory::multicast:
        return KeySpace::physical;
    case Memory::reservation:
        return KeySpace::reservation;
    case Memory::ipc:
        return KeySpace::ipc;
    case Memory::external:
        return KeySpace::external;
    case Memory::pool:
        return KeySpace::pool;
    case Memory::context:
        return KeySpace::context;
    case Memory::green_context:
        return KeySpace::green_context;
    case Memory::graph_exec:
        return KeySpace::graph_exec;
    }
    return KeySpace::none;
}

// Running values that deltas are taken from; both sides start each chunk with a fresh one.
struct DeltaState {
    std::uint64_t ticks = 0; // starts at ChunkHeader::base_ticks
    std::uint64_t address = 0;
};

struct Alloc {
    std::uint64_t api; // id of an Api record
    std::uint64_t ticks;
    std::uint64_t address; // pointer or handle
    std::uint64_t bytes;
    std::uint64_t stack;     // id of a Stack record, 0: not captured
    Memory memory;           // not in the record: from the Api, unless the place says graph
    bool pooled = false;     // it lies in a segment of the internal pool
    std::uint64_t slack = 0; // what its block there is larger than `bytes`
};

// Why a segment left the internal pool.
enum class SegmentEnd : std::uint8_t {
    freed = 1,     // the program's free of it went to the driver
    surplus = 2,   // more was cached than max_cached allows
    collected = 3, // garbage_collection_threshold
    pressure = 4,  // memory was short
    asked = 5,     // the program emptied the cache
};

// With `pool.guard` on, a block begins so many bytes before the address that was handed out.
inline constexpr std::uint64_t kRedZoneBytes = 512;

enum class Damage : std::uint8_t {
    use_after_free = 1, // bytes of a freed block changed before it was handed out again
    overrun = 2,        // bytes behind a live block changed
    underrun = 3,       // bytes before it
};

struct Free {
    std::uint64_t api;
    std::uint64_t ticks;
    std::uint64_t address;
    std::uint64_t stack; // id of a Stack record, 0: not captured
};

// Where the following events of the chunk happen. 0 and -1: not known.
struct Place {
    std::uint64_t context = 0; // id of a Context record
    std::int64_t device = -1;
    std::uint64_t stream = 0; // handle as the program gave it
    std::uint64_t pool = 0;
    bool capturing = false; // the stream is being captured: allocations are Memory::graph
    bool operator==(const Place&) const = default;
};

inline constexpr std::size_t kMaxHotBytes = 1 + 6 * kMaxVarintBytes;

inline std::uint8_t* put_ticks(std::uint8_t* out, std::uint64_t ticks, DeltaState& state) noexcept
{
    out = put_varint(out, zigzag(static_cast<std::int64_t>(ticks - state.ticks)));
    state.ticks = ticks;
    return out;
}

inline std::uint64_t get_ticks(Cursor& in, DeltaState& state) noexcept
{
    state.ticks += static_cast<std::uint64_t>(in.signed_varint());
    return state.ticks;
}

// Addresses of the driver are multiples of 256 nearly always; so are the differences, and they are
// small.
inline std::uint8_t* put_address(std::uint8_t* out, std::uint8_t* tag, std::uint64_t address,
                                 DeltaState& state) noexcept
{
    const auto delta = static_cast<std::int64_t>(address - state.address);
    state.address = address;
    if ((delta & 0xff) == 0)
        return put_varint(out, zigzag(delta / 256));
    *tag |= kFineAddress;
    return put_varint(out, zigzag(delta));
}

inline std::uint64_t get_address(Cursor& in, std::uint8_t tag, DeltaState& state) noexcept
{
    const auto delta = static_cast<std::uint64_t>(in.signed_varint());
    state.address += (tag & kFineAddress) ? delta : delta * 256;
    return state.address;
}

inline std::uint8_t* encode_alloc(std::uint8_t* out, const Alloc& event, DeltaState& state) noexcept
{
    std::uint8_t* const tag = out++;
    *tag = static_cast<std::uint8_t>(event.pooled ? Tag::pooled : Tag::alloc);
    out = put_varint(out, event.api);
    out = put_ticks(out, event.ticks, state);
    out = put_address(out, tag, event.address, state);
    if (event.bytes & 0xff) {
        *tag |= kFineSize;
        out = put_varint(out, event.bytes);
    } else {
        out = put_varint(out, event.bytes / 256);
    }
    out = put_varint(out, event.stack);
    return event.pooled ? put_varint(out, event.slack) : out;
}

inline Alloc decode_alloc(Cursor& in, std::uint8_t tag, DeltaState& state) noexcept
{
    Alloc event{};
    event.api = in.varint();
    event.ticks = get_ticks(in, state);
    event.address = get_address(in, tag, state);
    event.bytes = (tag & kFineSize) ? in.varint() : in.varint() * 256;
    event.stack = in.varint();
    event.pooled = (tag & kTagMask) == static_cast<std::uint8_t>(Tag::pooled);
    if (event.pooled)
        event.slack = in.varint();
    return event;
}

inline std::uint8_t* encode_free(std::uint8_t* out, const Free& event, DeltaState& state) noexcept
{
    std::uint8_t* const tag = out++;
    *tag = static_cast<std::uint8_t>(Tag::free);
    out = put_varint(out, event.api);
    out = put_ticks(out, event.ticks, state);
    out = put_address(out, tag, event.address, state);
    return put_varint(out, event.stack);
}

inline Free decode_free(Cursor& in, std::uint8_t tag, DeltaState& state) noexcept
{
    Free event{};
    event.api = in.varint();
    event.ticks = get_ticks(in, state);
    event.address = get_address(in, tag, state);
    event.stack = in.varint();
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

// clang-format off
// Length-prefixed records: what their bodies hold, in order. Texts are length-prefixed too. Addresses
// are plain varints here; ticks continue the chunk's deltas, but for those that say plain.
//
//   info           key text, value text
//   api            id, Effect, Memory, name text
//   thread         index, tid, name text
//   module_loaded  ticks, id, load bias, first address, end address, build-id text (raw bytes), path text
//   module_gone    ticks, id
//   stack          id, flags (bit 0: truncated), number of return addresses, first address, signed deltas
//   context        id, handle, signed device, primary (0 or 1)
//   context_gone   api, ticks, id of the context, stack (since 3.2)
//   device         ordinal, total bytes, name text
//   range_push     ticks, name text
//   range_pop      ticks
//   mark           ticks, name text
//   failed         api, ticks, result code, address, bytes, stack
//   map            api, ticks, address, bytes, physical handle, stack
//   unmap          api, ticks, address, bytes
//   retain         api, ticks, physical handle
//   pool           handle, signed location type and id (as CUmemLocation), managed (0 or 1)
//   shared         api, ticks, address or handle, stack
//   trim           api, ticks, pool, bytes it may keep, stack
//   segment        ticks, address, bytes, context, signed device
//   segment_gone   ticks, address, SegmentEnd
//   reusable       ticks, how many ticks ago that moment was, by whom (0 the program's own synchronisation, 1 ours)
//   retried        api, ticks, signed device, bytes, result code of the second try
//   out_of_memory  api, ticks, signed device, requested, free, total, allocated, reserved, largest gap
//   damaged        ticks, Damage, address of the block, signed offset of the first wrong byte, wrong bytes, stack
//   device_memory  ticks (plain), signed device, free, total
//   driver_time    ticks (plain), api, calls, their ticks in the driver, those of the longest
// clang-format on

enum StackFlags : std::uint64_t { kStackTruncated = 1 };

} // namespace vramscope::format
