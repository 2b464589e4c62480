// tracker/format/enumerations.hpp — record tags, and enumerations of fields with their words.
#pragma once

#include "tracker/format/field_types.hpp"
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
    mempool_memory = 0x65,
    context_opened = 0x66,
    searched = 0x67,
    reached = 0x68,
    object_memory = 0x69,
};
inline constexpr std::uint8_t kLengthPrefixed = 0x20; // the bit that all but the hot ones have

// What an entry point does to memory when it succeeds.
enum class Effect : std::uint8_t { none = 0, alloc = 1, free = 2 };
template <>
struct Words<Effect> {
    static constexpr Word<Effect> kAll[] = {
        {Effect::none, "other"}, {Effect::alloc, "allocates"}, {Effect::free, "frees"}};
    static constexpr const char* kOtherwise = "other";
};

// Why a segment left the internal pool.
enum class SegmentEnd : std::uint8_t {
    freed = 1,     // the program's free of it went to the driver
    surplus = 2,   // more was cached than max_cached allows
    collected = 3, // garbage_collection_threshold
    pressure = 4,  // memory was short
    asked = 5,     // the program emptied the cache
};
template <>
struct Words<SegmentEnd> {
    static constexpr Word<SegmentEnd> kAll[] = {{SegmentEnd::freed, "freed"},
                                                {SegmentEnd::surplus, "surplus"},
                                                {SegmentEnd::collected, "collected"},
                                                {SegmentEnd::pressure, "pressure"},
                                                {SegmentEnd::asked, "asked"}};
    static constexpr const char* kOtherwise = "other";
};

enum class Damage : std::uint8_t {
    use_after_free = 1, // bytes of a freed block changed before it was handed out again
    overrun = 2,        // bytes after a live block changed
    underrun = 3,       // bytes before it
};
template <>
struct Words<Damage> {
    static constexpr Word<Damage> kAll[] = {{Damage::use_after_free, "use-after-free"},
                                            {Damage::overrun, "overrun"},
                                            {Damage::underrun, "underrun"}};
    static constexpr const char* kOtherwise = "underrun";
};

// How a code object of Python tells the line of an instruction.
enum class LineTable : std::uint8_t {
    line_numbers = 1, // co_lnotab of CPython 3.8 and 3.9
    line_ranges = 2,  // co_linetable of 3.10 (PEP 626)
    locations = 3,    // co_linetable since 3.11 (PEP 657)
    none = 4,         // the offset of an instruction is its line
};
template <>
struct Words<LineTable> {
    static constexpr Word<LineTable> kAll[] = {{LineTable::line_numbers, "line-numbers"},
                                               {LineTable::line_ranges, "line-ranges"},
                                               {LineTable::locations, "locations"},
                                               {LineTable::none, "none"}};
    static constexpr const char* kOtherwise = "locations";
};

// A test of the program's began, or ended so.
enum class TestState : std::uint8_t {
    began = 1,
    passed = 2,
    failed = 3,
    skipped = 4,
    ended = 5, // nobody said how
};
template <>
struct Words<TestState> {
    static constexpr Word<TestState> kAll[] = {{TestState::began, "began"},
                                               {TestState::passed, "passed"},
                                               {TestState::failed, "failed"},
                                               {TestState::skipped, "skipped"},
                                               {TestState::ended, "ended"}};
    static constexpr const char* kOtherwise = "ended";
};

// How a context came to be known.
enum class Opening : std::uint8_t {
    created = 1,  // this call made it
    retained = 2, // this call made its device's primary context active, or found it so
    seen = 3,     // this call was the first in which it was current: what made it was not seen
};
template <>
struct Words<Opening> {
    static constexpr Word<Opening> kAll[] = {
        {Opening::created, "created"}, {Opening::retained, "retained"}, {Opening::seen, "seen"}};
    static constexpr const char* kOtherwise = "seen";
};

// Which blocks an allocator cuts from a segment.
enum class BlockSize : std::uint8_t { unknown = 0, small = 1, large = 2 };
template <>
struct Words<BlockSize> {
    static constexpr Word<BlockSize> kAll[] = {
        {BlockSize::unknown, "unknown"}, {BlockSize::small, "small"}, {BlockSize::large, "large"}};
    static constexpr const char* kOtherwise = "unknown";
};

// What a search of the program's memory found of blocks. What is neither held nor lost is
// "possibly held".
enum class Reach : std::uint8_t {
    held = 1,
    lost = 2,
    interior = 3,  // pointers lead into them, and none to their beginning
    shape = 4,     // what holds them is memory that may have been freed
    registers = 5, // nothing was found, and what the registers hold was not seen
    open = 6,      // too many levels, or too many holders: some were not looked at
    handle = 7,    // they have no address, but a small number
    view = 8,      // nothing was found, and a texture or surface object may be of them
};
template <>
struct Words<Reach> {
    static constexpr Word<Reach> kAll[] = {{Reach::held, "held"},
                                           {Reach::lost, "lost"},
                                           {Reach::interior, "interior-pointer"},
                                           {Reach::shape, "unknown-memory"},
                                           {Reach::registers, "registers-not-seen"},
                                           {Reach::open, "search-not-finished"},
                                           {Reach::handle, "no-address"},
                                           {Reach::view, "texture-or-surface"}};
    static constexpr const char* kOtherwise = "search-not-finished";
};

} // namespace vramscope::format
