// tests/support/random_program.hpp — a random program, and its possible logs.
//
// The program is a list of what it did; the logs are those that a recorder could have written. The
// list is the truth that tests count from; a log is one of many ways to write it down: in larger or
// smaller chunks, by several threads or by one. Equal seeds make equal programs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tests/support/log_builder.hpp"

namespace vramscope::test {

enum class Do : std::uint8_t {
    alloc,
    free,
    map,
    unmap,
    retain,
    context_gone,
    segment,
    segment_gone,
    reusable,
    push,
    pop,
    mark,
    failed,
    share,
    sample,      // the driver's own numbers of a device
    failed_free, // these two are in no random program by themselves
    damaged,
};

struct Step {
    Do what = Do::mark;
    std::uint64_t ticks = 0;
    std::uint32_t thread = 0;
    std::string_view api;
    format::Memory memory = format::Memory::none; // none: as the entry point says
    format::Place place;
    std::uint64_t address = 0; // or a handle, or the number of a context
    std::uint64_t bytes = 0;
    std::uint64_t handle = 0; // what a mapping maps
    std::uint64_t stack = 0;
    std::uint64_t slack = 0;
    std::uint64_t age = 0;
    bool pooled = false;
};

struct ProgramOptions {
    std::size_t steps = 300;
    std::uint32_t threads = 3;
    bool ranges = true;        // NVTX ranges, which are a thread's own
    bool missing_frees = true; // now and then an address is handed out over a live block
    bool late_frees = true;    // now and then a free is written after what took its place
    bool nonsense = false;     // addresses and sizes (up to kMostNonsense) of no sound program
};

inline constexpr std::uint64_t kDeviceBytes = 24_GiB;
inline constexpr std::uint64_t kMostNonsense = std::uint64_t{1} << 46;
inline constexpr std::uint64_t kStacks = 9;   // 1 to 9, as program_with_stacks() has them
inline constexpr std::uint64_t kContexts = 3; // 1 to 3
constexpr std::int64_t device_of(std::uint64_t context)
{
    return context == 2 ? 1 : 0;
}
inline constexpr std::uint64_t kHostPool = 8; // the memory of a pool is where the pool is
inline constexpr std::uint64_t kManagedPool = 9;

// The steps in the order of writing, which is that of time except for late frees.
std::vector<Step> random_program(std::uint32_t seed, const ProgramOptions& options = {});

struct Layout {
    std::uint32_t chunk_bytes = format::kChunkBytes;
    std::uint32_t new_chunks = 0; // before so many of a hundred records
    bool one_thread = false;      // all of it by thread 0, at the same times
    std::uint32_t seed = 1;
};

LogBuilder written(const std::vector<Step>& steps, const Layout& layout = {});

} // namespace vramscope::test
