// tracker/format/records.hpp — the length-prefixed records: a struct for each, its fields in order.
//
// Nothing here is repeated elsewhere in the code: fields.hpp reads and writes any record by its
// members, and what is true of a whole kind of record is in its Layout, beside which kSays says
// what it means; the JSON line of a record and the schema of that line follow. README.md has the
// bytes, and a test holds the two against each other. A new record is a tag (enumerations.hpp), a
// struct and its name in `Records`. Those that say what others mean are in definitions.hpp, the
// four hot records in record.hpp.
#pragma once

#include <array>
#include <string_view>

#include "tracker/format/definitions.hpp"

namespace vramscope::format {

// ---- what a program did ----

struct ContextGone {
    static constexpr Layout kLayout{Tag::context_gone, "context_gone", Head::call, "context, stack",
                                    1}; // the stack came with 3.2
    static constexpr Says kSays[] = {{"stack", "Of the call that ended it. Since 1.1."}};
    std::uint64_t context = 0;
    StackId stack{};
};

struct RangePush {
    static constexpr Layout kLayout{Tag::range_push, "range_push", Head::timed, "name"};
    static constexpr Says kSays[] = {{"", "An NVTX range of this thread."}};
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
    static constexpr Says kSays[] = {{"", "The driver refused the call."},
                                     {"address", "That was to be freed, or 0x0."}};
    Result result;
    Address address;
    std::uint64_t bytes = 0;
    StackId stack{};
};

struct Map {
    static constexpr Layout kLayout{Tag::map, "map", Head::call, "address, bytes, handle, stack"};
    static constexpr Says kSays[] = {{"handle", "Of physical memory."}};
    Address address;
    std::uint64_t bytes = 0;
    Address handle;
    StackId stack{};
};

struct Unmap {
    static constexpr Layout kLayout{Tag::unmap, "unmap", Head::call, "address, bytes"};
    Address address;
    std::uint64_t bytes = 0;
};

struct Retain {
    static constexpr Layout kLayout{Tag::retain, "retain", Head::call, "handle"};
    static constexpr Says kSays[] = {{"", "There is one more reference to physical memory."}};
    Address handle;
};

struct Shared {
    static constexpr Layout kLayout{Tag::shared, "shared", Head::call, "address, stack"};
    static constexpr Says kSays[] = {
        {"", "The block, handle or pool was given a name that others can open."}};
    Address address;
    StackId stack{};
};

struct Trim {
    static constexpr Layout kLayout{Tag::trim, "trim", Head::call, "pool, keep_bytes, stack"};
    static constexpr Says kSays[] = {
        {"", "A pool of the driver's was told to give back what it does not need."}};
    Address pool;
    std::uint64_t keep_bytes = 0;
    StackId stack{};
};

// ---- the internal pool (interpose/pool), between the program and the driver ----

struct Segment {
    static constexpr Layout kLayout{Tag::segment, "segment", Head::timed,
                                    "address, bytes, context, device"};
    static constexpr Says kSays[] = {{"", "vramscope's pool took memory from the driver."}};
    Address address;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0;
    DeviceOrdinal device{};
};

struct SegmentGone {
    static constexpr Layout kLayout{Tag::segment_gone, "segment_gone", Head::timed, "address, end"};
    static constexpr Says kSays[] = {
        {"", "A segment is the driver's again, or no longer the pool's to know."}};
    Address address;
    SegmentEnd end = SegmentEnd::freed;
};

struct Reusable { // what was freed before a moment may be handed out again
    static constexpr Layout kLayout{Tag::reusable, "reusable", Head::timed, "age, by"};
    Ticks age;        // how long ago that moment was
    bool own = false; // the pool synchronised by itself; else the program did
};

struct Retried {
    static constexpr Layout kLayout{Tag::retried, "retried", Head::call, "device, bytes, result"};
    static constexpr Says kSays[] = {
        {"", "Memory was short: what was cached went back, and this is the second try."}};
    DeviceOrdinal device{};
    std::uint64_t bytes = 0;
    Result result;
};

struct OutOfMemory {
    static constexpr Layout kLayout{
        Tag::out_of_memory, "out_of_memory", Head::call,
        "device, requested, free, total, allocated, reserved, largest_gap"};
    static constexpr Says kSays[] = {
        {"", "Follows the `failed` of an allocation: how the device's memory stood."},
        {"free", "As the driver says."},
        {"total", "As the driver says, or the limit that was set; 0: not known."},
        {"largest_gap", "Of the gaps in what the pool holds."}};
    DeviceOrdinal device{};
    std::uint64_t requested = 0;
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t largest_gap = 0;
};

struct Damaged {
    static constexpr Layout kLayout{Tag::damaged, "damaged", Head::timed,
                                    "kind, address, offset, bytes, stack"};
    static constexpr Says kSays[] = {{"", "Memory was written that was free, or beyond a block."},
                                     {"address", "Of the block, as the program knows it."},
                                     {"offset", "Of the first wrong byte, from address."},
                                     {"bytes", "How many bytes are wrong."}};
    Damage kind = Damage::overrun;
    Address address;
    std::int64_t offset = 0;
    std::uint64_t bytes = 0;
    StackId stack{};
};

// ---- what the driver says and takes ----

struct DeviceMemory {
    static constexpr Layout kLayout{Tag::device_memory, "device_memory", Head::plain,
                                    "device, free, total"};
    static constexpr Says kSays[] = {{"", "What the driver itself said of a device."}};
    DeviceOrdinal device{};
    std::uint64_t free = 0;
    std::uint64_t total = 0;
};

// Only of a pool that has taken memory from the device, or may not take all of it.
struct MempoolMemory {
    static constexpr Layout kLayout{Tag::mempool_memory, "mempool_memory", Head::plain,
                                    "pool, device, reserved, used, maximum"};
    static constexpr Says kSays[] = {{"", "What the driver said of one of its own pools."},
                                     {"reserved", "What it has taken from the device."},
                                     {"used", "Of that, what it has given out."},
                                     {"maximum", "That the program set it; 0: none."}};
    Address pool;
    DeviceOrdinal device{};
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    std::uint64_t maximum = 0;
};

// Once for each context, when it is first known: what it is, a `context` before this says.
struct ContextOpened {
    static constexpr Layout kLayout{Tag::context_opened, "context_opened", Head::plain,
                                    "api, context, opening, free_before, free_after, total, stack"};
    static constexpr Says kSays[] = {
        {"", "A context is known from here on: by this call, which opened it or found it open."},
        {"free_before", "Of its device, as the driver says, right before the call; 0: not asked."},
        {"free_after", "The same, right after it."},
        {"total", "Of its device, as the driver says; 0: not asked."}};
    ApiId api;
    std::uint64_t context = 0;
    Opening opening = Opening::seen;
    std::uint64_t free_before = 0;
    std::uint64_t free_after = 0;
    std::uint64_t total = 0;
    StackId stack{};
};

struct DriverTime {
    static constexpr Layout kLayout{Tag::driver_time, "driver_time", Head::plain,
                                    "api, calls, total, longest"};
    static constexpr Says kSays[] = {{"", "What calls of one entry point took in the driver, by "
                                          "this thread since its last such record."}};
    ApiId api;
    std::uint64_t calls = 0;
    Ticks total;
    Ticks longest;
};

struct BlocksGone {
    static constexpr Layout kLayout{Tag::blocks_gone, "blocks_gone", Head::plain,
                                    "api, address, bytes"};
    static constexpr Says kSays[] = {
        {"", "All blocks that an allocator of the program's had in these addresses are gone."},
        {"api", "With which it allocates them."}};
    ApiId api;
    Address address;
    std::uint64_t bytes = 0;
};

// It may be written where none of the allocator's blocks is ever seen.
struct CutFrom {
    static constexpr Layout kLayout{Tag::cut_from, "cut_from", Head::plain,
                                    "api, address, bytes, blocks"};
    static constexpr Says kSays[] = {{"", "What was allocated or mapped in these addresses is what "
                                          "an allocator of the program's cuts its blocks from."},
                                     {"api", "With which it allocates them."}};
    ApiId api;
    Address address;
    std::uint64_t bytes = 0;
    BlockSize blocks = BlockSize::unknown;
};

struct Awaited { // until then, the block's place is not free
    static constexpr Layout kLayout{Tag::awaited, "awaited", Head::plain, "api, address, over"};
    static constexpr Says kSays[] = {
        {"", "A block that an allocator took back waits for queued work: before its free, and "
             "again when that work is over."},
        {"api", "With which it was allocated."}};
    ApiId api;
    Address address;
    bool over = false;
};

struct SizeUnknown {
    static constexpr Layout kLayout{Tag::size_unknown, "size_unknown", Head::plain, "api, address"};
    static constexpr Says kSays[] = {
        {"", "The size of this block is not known: the bytes of its allocation, which stands "
             "before this, are those of its place."},
        {"api", "With which it was allocated."}};
    ApiId api;
    Address address;
};

struct BlocksPending { // the allocator may not hand them out yet
    static constexpr Layout kLayout{Tag::blocks_pending, "blocks_pending", Head::plain,
                                    "api, device, bytes"};
    static constexpr Says kSays[] = {
        {"", "What an allocator of the program's has on a device that was given back to it while "
             "another stream still used it: the sum from here on."},
        {"api", "With which it allocates them."}};
    ApiId api;
    DeviceOrdinal device{};
    std::uint64_t bytes = 0;
};

struct BlockName {
    static constexpr Layout kLayout{Tag::block_name, "block_name", Head::plain,
                                    "api, address, name"};
    static constexpr Says kSays[] = {
        {"", "The program named the block that an allocator of its own has at this address; an "
             "empty name: the block keeps that of the one before it at this address, which was "
             "resized."},
        {"api", "With which it was allocated."}};
    ApiId api;
    Address address;
    std::string_view name;
};

// It holds for the whole process, whichever thread says so.
struct Test {
    static constexpr Layout kLayout{Tag::test, "test", Head::plain, "state, name"};
    static constexpr Says kSays[] = {
        {"", "A test of the program began or ended. Until its end, all that any thread allocates "
             "is the test's."}};
    TestState state = TestState::began;
    std::string_view name;
};

// Written from outside, by the command that searched; its time is that of the search's begin.
struct Searched {
    static constexpr Layout kLayout{Tag::searched, "searched", Head::plain,
                                    "bytes, stopped, doubts"};
    static constexpr Says kSays[] = {
        {"", "The program's memory was searched for what holds its blocks. The `reached` that "
             "follow are what was found, and take the place of those before."},
        {"bytes", "Of memory, that were searched."},
        {"stopped", "Its threads stood still, and their registers were seen."},
        {"doubts", "What makes the verdicts weaker, in sentences."}};
    std::uint64_t bytes = 0;
    bool stopped = false;
    std::string_view doubts;
};

struct Reached {
    static constexpr Layout kLayout{Tag::reached, "reached", Head::plain,
                                    "api, stack, memory, device, reach, bytes, blocks, chain"};
    static constexpr Says kSays[] = {
        {"", "What a search found of blocks that were alive then, and were allocated so."},
        {"chain", "What holds them, from outside inwards; of lost ones, the blocks that point to "
                  "them and that nothing leads to."}};
    ApiId api;
    StackId stack{};
    Memory memory = Memory::none;
    DeviceOrdinal device{};
    Reach reach = Reach::open;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    std::string_view chain;
};

// Behind the alloc of an object for which the driver takes memory, by the same thread.
struct ObjectMemory {
    static constexpr Layout kLayout{Tag::object_memory, "object_memory", Head::plain,
                                    "api, address, device, took, free_before, free_after, total"};
    static constexpr Says kSays[] = {
        {"", "What the driver said of a device before and after it made this object."},
        {"api", "That made it."},
        {"took", "The time between the two answers."},
        {"free_before", "Of the device, as the driver says, right before the call."},
        {"free_after", "The same, right after it: at this record's time."},
        {"total", "Of the device."}};
    ApiId api;
    Address address;
    DeviceOrdinal device{};
    Ticks took;
    std::uint64_t free_before = 0;
    std::uint64_t free_after = 0;
    std::uint64_t total = 0;
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
using Records = RecordList<Info, Api, Thread, ModuleLoaded, ModuleGone, Stack, Context, ContextGone,
                           Device, RangePush, RangePop, Mark, Failed, Map, Unmap, Retain, Pool,
                           Shared, Trim, Segment, SegmentGone, Reusable, Retried, OutOfMemory,
                           Damaged, DeviceMemory, DriverTime, PythonCode, PythonStack, BlocksGone,
                           Test, FrameName, CutFrom, Awaited, SizeUnknown, BlocksPending, BlockName,
                           MempoolMemory, ContextOpened, Searched, Reached, ObjectMemory>;

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
