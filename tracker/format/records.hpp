// tracker/format/records.hpp — the length-prefixed records: a struct for each, its fields in order.
//
// Nothing here is repeated elsewhere in the code: fields.hpp reads and writes any record by its
// members, and what is true of a whole kind of record is in its Layout. README.md has the bytes,
// and a test holds the two against each other. A new record is a tag, a struct and its name in
// `Records`. The four hot records are in record.hpp.
#pragma once

#include <array>
#include <string_view>

#include "tracker/format/field_types.hpp"
#include "tracker/format/memory.hpp"
#include "tracker/format/words.hpp"

namespace vramscope::format {

enum class Tag : std::uint8_t {
    end = 0x00,    // never written: what an unwritten byte reads as
    alloc = 0x01,  // hot
    free = 0x02,   // hot
    place = 0x03,  // hot: where the following events of this chunk happen
    pooled = 0x04, // hot: an alloc that the internal pool served, or took from the driver to keep

    info = 0x20,
    api = 0x21,
    thread = 0x22,
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
    pool = 0x30,
    shared = 0x31,
    trim = 0x32,
    segment = 0x33,
    segment_gone = 0x34,
    reusable = 0x35,
    retried = 0x36,
    out_of_memory = 0x37,
    damaged = 0x38,
    device_memory = 0x39,
    driver_time = 0x3a,
    python_code = 0x3b,
    python_stack = 0x3c,
    blocks_gone = 0x3d,
    test = 0x3e,
    frame_name = 0x3f,
    cut_from = 0x60, // tags without bit 0x20 are hot
    awaited = 0x61,
    size_unknown = 0x62,
    blocks_pending = 0x63,
    block_name = 0x64,
};
inline constexpr std::uint8_t kLengthPrefixed = 0x20; // the bit that all but the hot ones have

// What an entry point does to memory when it succeeds.
enum class Effect : std::uint8_t { none = 0, alloc = 1, free = 2 };
inline constexpr Word<Effect> kEffects[] = {
    {Effect::none, "other"}, {Effect::alloc, "allocates"}, {Effect::free, "frees"}};

// Why a segment left the internal pool.
enum class SegmentEnd : std::uint8_t {
    freed = 1,     // the program's free of it went to the driver
    surplus = 2,   // more was cached than max_cached allows
    collected = 3, // garbage_collection_threshold
    pressure = 4,  // memory was short
    asked = 5,     // the program emptied the cache
};
inline constexpr Word<SegmentEnd> kSegmentEnds[] = {{SegmentEnd::freed, "freed"},
                                                    {SegmentEnd::surplus, "surplus"},
                                                    {SegmentEnd::collected, "collected"},
                                                    {SegmentEnd::pressure, "pressure"},
                                                    {SegmentEnd::asked, "asked"}};

enum class Damage : std::uint8_t {
    use_after_free = 1, // bytes of a freed block changed before it was handed out again
    overrun = 2,        // bytes behind a live block changed
    underrun = 3,       // bytes before it
};
inline constexpr Word<Damage> kDamages[] = {{Damage::use_after_free, "use-after-free"},
                                            {Damage::overrun, "overrun"},
                                            {Damage::underrun, "underrun"}};

// How a code object of Python tells the line of an instruction.
enum class LineTable : std::uint8_t {
    line_numbers = 1, // co_lnotab of CPython 3.8 and 3.9
    line_ranges = 2,  // co_linetable of 3.10 (PEP 626)
    locations = 3,    // co_linetable since 3.11 (PEP 657)
    none = 4,         // the offset of an instruction is its line
};
inline constexpr Word<LineTable> kLineTables[] = {{LineTable::line_numbers, "line-numbers"},
                                                  {LineTable::line_ranges, "line-ranges"},
                                                  {LineTable::locations, "locations"},
                                                  {LineTable::none, "none"}};

// A test of the program's began, or ended so.
enum class TestState : std::uint8_t {
    began = 1,
    passed = 2,
    failed = 3,
    skipped = 4,
    ended = 5, // nobody said how
};
inline constexpr Word<TestState> kTestStates[] = {{TestState::began, "began"},
                                                  {TestState::passed, "passed"},
                                                  {TestState::failed, "failed"},
                                                  {TestState::skipped, "skipped"},
                                                  {TestState::ended, "ended"}};

// Which blocks an allocator cuts from a segment.
enum class BlockSize : std::uint8_t { unknown = 0, small = 1, large = 2 };
inline constexpr Word<BlockSize> kBlockSizes[] = {
    {BlockSize::unknown, "unknown"}, {BlockSize::small, "small"}, {BlockSize::large, "large"}};

constexpr const char* name(BlockSize size) noexcept
{
    return word_of(kBlockSizes, size);
}
constexpr const char* name(Effect effect) noexcept
{
    return word_of(kEffects, effect);
}
constexpr const char* name(SegmentEnd end) noexcept
{
    return word_of(kSegmentEnds, end);
}
constexpr const char* name(Damage damage) noexcept
{
    return word_of(kDamages, damage, "underrun");
}
constexpr const char* name(LineTable table) noexcept
{
    return word_of(kLineTables, table, "locations");
}
constexpr const char* name(TestState state) noexcept
{
    return word_of(kTestStates, state, "ended");
}

// ---- what others mean ----

struct Info {
    static constexpr Layout kLayout{Tag::info, "info", Head::definition, "key, value"};
    std::string_view key;
    std::string_view value;
};

struct Api { // an entry point
    static constexpr Layout kLayout{Tag::api, "api", Head::definition, "id, effect, memory, name"};
    std::uint64_t id = 0;
    Effect effect = Effect::none;
    Memory memory = Memory::none;
    std::string_view name;
};

struct Thread { // the thread that wrote the records behind this one
    static constexpr Layout kLayout{Tag::thread, "thread", Head::definition, "index, tid, name"};
    std::uint64_t index = 0;
    std::uint64_t tid = 0;
    std::string_view name;
};

struct ModuleLoaded {
    static constexpr Layout kLayout{Tag::module_loaded, "module_loaded", Head::timed_definition,
                                    "id, bias, first, end, build_id, path"};
    std::uint64_t id = 0;
    Address bias;  // address in the process minus address in the file
    Address first; // it is loaded at [first, end)
    Address end;
    std::string_view build_id; // raw bytes
    std::string_view path;
};

struct ModuleGone {
    static constexpr Layout kLayout{Tag::module_gone, "module_gone", Head::timed_definition,
                                    "module"};
    std::uint64_t module = 0;
};

struct Stack {
    static constexpr Layout kLayout{Tag::stack, "stack", Head::definition,
                                    "id, flags, count, addresses"};
    static constexpr std::uint64_t kTruncated = 1; // flag: the stack went on

    std::uint64_t id = 0;
    std::uint64_t flags = 0;
    std::uint64_t count = 0;
    Addresses addresses;
};

// A code object of Python. A line table that is longer than a text goes on in further records of
// the same id, whose other fields are empty.
struct PythonCode {
    static constexpr Layout kLayout{Tag::python_code, "python_code", Head::definition,
                                    "id, table, first_line, file, name, lines"};
    std::uint64_t id = 0;
    LineTable table = LineTable::locations;
    std::uint64_t first_line = 0;
    std::string_view file;
    std::string_view name;  // qualified where Python knows that (since 3.11)
    std::string_view lines; // raw bytes
};

// A stack with functions of Python: those that its interpreter was running, or those of its origin,
// where a thread does now what was begun in Python before. Its id is one of stacks.
struct PythonStack {
    static constexpr Layout kLayout{Tag::python_stack, "python_stack", Head::definition,
                                    "id, stack, origin, flags, count, frames"};
    static constexpr std::uint64_t kTruncated = 1; // flag: outer functions of Python are missing
    static constexpr std::uint64_t kUnplaced = 2;  // flag: where they lie is not known
    static constexpr std::uint64_t kLeaf = 4;      // flag: the origin of gradients of leaf tensors

    std::uint64_t id = 0;
    // The native frames; with an origin, the frames that ran, which may be of Python too. 0: there
    // are none, and it is an origin.
    std::uint64_t stack = 0;
    std::uint64_t origin = 0; // the stack, with a smaller id, that made what ran; 0: none is known
    std::uint64_t flags = 0;
    std::uint64_t count = 0;
    PythonFrames frames;
};

// What is at an address of a module, in words, so that no file has to be looked into. Calls that
// were inlined there have a record each, the innermost first.
struct FrameName {
    static constexpr Layout kLayout{
        Tag::frame_name, "frame_name", Head::definition,
        "module, offset, flags, function, short_name, file, line, function_line"};
    static constexpr std::uint64_t kInlined = 1; // flag: the next record is of what it lies in
    static constexpr std::uint64_t kNoUnwindTable = 2; // flag: its caller was not to be found

    std::uint64_t module = 0;
    Address offset; // in the file: one less than the address in a stack
    std::uint64_t flags = 0;
    std::string_view function; // demangled; empty: not known, as all that follows
    std::string_view short_name;
    std::string_view file;
    std::uint64_t line = 0;
    std::uint64_t function_line = 0; // where the function begins
};

struct Context {
    static constexpr Layout kLayout{Tag::context, "context", Head::definition,
                                    "id, handle, device, primary"};
    std::uint64_t id = 0;
    Address handle;
    DeviceOrdinal device{};
    bool primary = false;
};

struct Device {
    static constexpr Layout kLayout{Tag::device, "device", Head::definition,
                                    "ordinal, bytes, name"};
    std::uint64_t ordinal = 0;
    std::uint64_t bytes = 0;
    std::string_view name;
};

// What one of CUDA's own pools gives out. It is written when the pool is first seen, which may be
// long after its creation.
struct Pool {
    static constexpr Layout kLayout{Tag::pool, "pool", Head::definition,
                                    "handle, location_type, location, managed"};
    Address handle;
    std::int64_t location_type = 0; // a CUmemLocationType
    std::int64_t location = 0;
    bool managed = false;
};

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

// What was allocated or mapped in these addresses is what an allocator cuts its blocks from, even if
// none of its blocks is ever seen there.
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

// It stands behind the allocation of a block, whose bytes are those of its place.
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

// Of the whole process, whichever thread says so: until the end all that is allocated is of the test.
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
