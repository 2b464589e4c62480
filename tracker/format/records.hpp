// tracker/format/records.hpp — the length-prefixed records: a struct for each, its fields in order.
//
// Nothing here is repeated elsewhere in the code: fields.hpp reads and writes any record by its
// members, and what is true of a whole kind of record is in its Layout. README.md has the bytes,
// and a test holds the two against each other. A new record is a tag (enumerations.hpp), a struct
// and its name in `Records`. Those that say what others mean are in definitions.hpp, the four hot
// records in record.hpp.
#pragma once

#include <array>
#include <string_view>

#include "tracker/format/definitions.hpp"

namespace vramscope::format {

// ---- what a program did ----

struct ContextGone {
    static constexpr Layout kLayout{Tag::context_gone, "context_gone", Head::call, "context, stack",
                                    1}; // the stack came with 3.2
    std::uint64_t context = 0;
    StackId stack{};
};

struct RangePush {
    static constexpr Layout kLayout{Tag::range_push, "range_push", Head::timed, "name"};
    std::string_view name;
};

struct RangePop {
    static constexpr Layout kLayout{Tag::range_pop, "range_pop", Head::timed, ""};
};

struct Mark {
    static constexpr Layout kLayout{Tag::mark, "mark", Head::timed, "name"};
    std::string_view name;
};

struct Failed {
    static constexpr Layout kLayout{Tag::failed, "failed", Head::call,
                                    "result, address, bytes, stack"};
    Result result;
    Address address; // the address that was to be freed, or 0
    std::uint64_t bytes = 0;
    StackId stack{};
};

struct Map {
    static constexpr Layout kLayout{Tag::map, "map", Head::call, "address, bytes, handle, stack"};
    Address address;
    std::uint64_t bytes = 0;
    Address handle; // a handle of physical memory
    StackId stack{};
};

struct Unmap {
    static constexpr Layout kLayout{Tag::unmap, "unmap", Head::call, "address, bytes"};
    Address address;
    std::uint64_t bytes = 0;
};

struct Retain { // one more reference to physical memory
    static constexpr Layout kLayout{Tag::retain, "retain", Head::call, "handle"};
    Address handle;
};

struct Shared { // memory was given a name that others can open
    static constexpr Layout kLayout{Tag::shared, "shared", Head::call, "address, stack"};
    Address address;
    StackId stack{};
};

struct Trim { // a pool was told to give back what it does not need
    static constexpr Layout kLayout{Tag::trim, "trim", Head::call, "pool, keep_bytes, stack"};
    Address pool;
    std::uint64_t keep_bytes = 0;
    StackId stack{};
};

// ---- the internal pool (interpose/pool), between the program and the driver ----

struct Segment { // memory that it took from the driver
    static constexpr Layout kLayout{Tag::segment, "segment", Head::timed,
                                    "address, bytes, context, device"};
    Address address;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0;
    DeviceOrdinal device{};
};

struct SegmentGone { // a segment is the driver's again, or no longer the pool's to know
    static constexpr Layout kLayout{Tag::segment_gone, "segment_gone", Head::timed, "address, end"};
    Address address;
    SegmentEnd end = SegmentEnd::freed;
};

struct Reusable { // what was freed before a moment may be handed out again
    static constexpr Layout kLayout{Tag::reusable, "reusable", Head::timed, "age, by"};
    Ticks age;        // how long ago that moment was
    bool own = false; // the pool synchronised by itself; else the program did
};

// An allocation was short of memory: cached memory went back, and it was tried again.
struct Retried {
    static constexpr Layout kLayout{Tag::retried, "retried", Head::call, "device, bytes, result"};
    DeviceOrdinal device{};
    std::uint64_t bytes = 0;
    Result result; // result of the second try
};

// Follows the `failed` of an allocation, and says how the device's memory stood.
struct OutOfMemory {
    static constexpr Layout kLayout{
        Tag::out_of_memory, "out_of_memory", Head::call,
        "device, requested, free, total, allocated, reserved, largest_gap"};
    DeviceOrdinal device{};
    std::uint64_t requested = 0;
    std::uint64_t free = 0;  // as the driver says
    std::uint64_t total = 0; // as the driver says, or the limit that was set; 0: not known
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t largest_gap = 0; // the largest gap in what the pool holds
};

struct Damaged { // memory was written that was free, or beyond a block
    static constexpr Layout kLayout{Tag::damaged, "damaged", Head::timed,
                                    "kind, address, offset, bytes, stack"};
    Damage kind = Damage::overrun;
    Address address;         // address of the block, as the program knows it
    std::int64_t offset = 0; // offset of the first wrong byte
    std::uint64_t bytes = 0; // how many bytes are wrong
    StackId stack{};
};

// ---- what the driver says and takes ----

struct DeviceMemory {
    static constexpr Layout kLayout{Tag::device_memory, "device_memory", Head::plain,
                                    "device, free, total"};
    DeviceOrdinal device{};
    std::uint64_t free = 0;
    std::uint64_t total = 0;
};

struct DriverTime { // what calls of one entry point took in the driver
    static constexpr Layout kLayout{Tag::driver_time, "driver_time", Head::plain,
                                    "api, calls, total, longest"};
    ApiId api;
    std::uint64_t calls = 0;
    Ticks total;
    Ticks longest;
};

// All blocks that an allocator of the program's had in these addresses are gone.
struct BlocksGone {
    static constexpr Layout kLayout{Tag::blocks_gone, "blocks_gone", Head::plain,
                                    "api, address, bytes"};
    ApiId api; // with which it allocates them
    Address address;
    std::uint64_t bytes = 0;
};

// An allocator cuts its blocks from what was allocated or mapped in these addresses, even if none
// of its blocks is ever seen there.
struct CutFrom {
    static constexpr Layout kLayout{Tag::cut_from, "cut_from", Head::plain,
                                    "api, address, bytes, blocks"};
    ApiId api; // with which it allocates them
    Address address;
    std::uint64_t bytes = 0;
    BlockSize blocks = BlockSize::unknown;
};

// A block that an allocator took back waits for queued work, and its place is not free. It stands
// before the free, and a second time when that work is done.
struct Awaited {
    static constexpr Layout kLayout{Tag::awaited, "awaited", Head::plain, "api, address, over"};
    ApiId api; // with which the block was allocated
    Address address;
    bool over = false;
};

// It comes after the allocation of a block, whose bytes are those of its place.
struct SizeUnknown {
    static constexpr Layout kLayout{Tag::size_unknown, "size_unknown", Head::plain, "api, address"};
    ApiId api;
    Address address;
};

// What an allocator of the program's has on a device that was given back to it while another stream
// still used it: the sum from here on. It may not hand that out yet.
struct BlocksPending {
    static constexpr Layout kLayout{Tag::blocks_pending, "blocks_pending", Head::plain,
                                    "api, device, bytes"};
    ApiId api; // with which it allocates them
    DeviceOrdinal device{};
    std::uint64_t bytes = 0;
};

// The program named the block that an allocator of its own has at this address.
struct BlockName {
    static constexpr Layout kLayout{Tag::block_name, "block_name", Head::plain,
                                    "api, address, name"};
    ApiId api; // with which it was allocated
    Address address;
    std::string_view name;
};

// It holds for the whole process, whichever thread says so: all that is allocated until the test
// ends is the test's.
struct Test {
    static constexpr Layout kLayout{Tag::test, "test", Head::plain, "state, name"};
    TestState state = TestState::began;
    std::string_view name;
};

// All records, in the order of their tags.
template <typename... Each>
struct RecordList {
    static constexpr Layout kLayouts[] = {Each::kLayout...};

    // Calls visit.operator()<R>() for the record of this tag. False: there is none.
    template <typename Visit>
    static constexpr bool of_tag(Tag tag, Visit&& visit)
    {
        return ((Each::kLayout.tag == tag && (visit.template operator()<Each>(), true)) || ...);
    }
};
using Records =
    RecordList<Info, Api, Thread, ModuleLoaded, ModuleGone, Stack, Context, ContextGone, Device,
               RangePush, RangePop, Mark, Failed, Map, Unmap, Retain, Pool, Shared, Trim, Segment,
               SegmentGone, Reusable, Retried, OutOfMemory, Damaged, DeviceMemory, DriverTime,
               PythonCode, PythonStack, BlocksGone, Test, FrameName, CutFrom, Awaited, SizeUnknown,
               BlocksPending, BlockName>;

inline constexpr auto kLayoutOfTag = [] {
    std::array<const Layout*, 256> layouts{};
    for (const Layout& layout : Records::kLayouts)
        layouts[static_cast<std::size_t>(layout.tag)] = &layout;
    return layouts;
}();

// Null: no record of this version has that tag; a later minor version may.
constexpr const Layout* layout_of(Tag tag) noexcept
{
    return kLayoutOfTag[static_cast<std::size_t>(tag)];
}
static_assert(
    [] {
        for (const Layout& layout : Records::kLayouts)
            if (layout_of(layout.tag) != &layout ||
                !(static_cast<std::uint8_t>(layout.tag) & kLengthPrefixed))
                return false;
        return true;
    }(),
    "each has a tag of its own");
static_assert(
    [] {
        for (const Layout& layout : Records::kLayouts)
            if (layout.tag > Tag::damaged && layout.head != Head::plain &&
                layout.head != Head::definition)
                return false;
        return true;
    }(),
    "a reader of 3.0 skips a newer record, and must not miss a difference of times in its head");

// True of the records of a call. Alloc and free are records of a call too.
constexpr bool names_entry_point(Tag tag) noexcept
{
    const Layout* const layout = layout_of(tag);
    return layout && layout->head == Head::call;
}

} // namespace vramscope::format
