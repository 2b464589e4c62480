// report/plan/trace/trace.hpp — what one process asked for on one device, by time.
//
// A policy answers it again, as another allocator would have. Sizes are bytes as the program asked
// for them. Memory: 24 bytes for each request and 8 for each block.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report::plan {

using BlockId =
    std::uint32_t; // dense, in the order of birth; an address that comes again is another
using SiteId = std::uint32_t; // as in report/replay/heap/sites.hpp

enum class Action : std::uint8_t {
    allocate,
    free,        // the program gave it back, and no queued work of another stream uses it
    free_later,  // the program gave it back, and queued work uses it until its `ready`
    ready,       // that work is done
    synchronise, // the whole device: all that was freed before is ready
    empty_cache, // the program asked its allocator to give back what it does not use
    // The program took device memory past this allocator, and gave it back: what no policy changes.
    // A policy is not told; the device has less for it meanwhile.
    take_beside,
    give_beside,
};

constexpr bool gives_back(Action action) noexcept
{
    return action == Action::free || action == Action::free_later;
}

struct Request {
    std::uint64_t bytes = 0; // for allocate, take_beside and give_beside
    std::uint64_t ticks = 0;
    BlockId block = 0;        // for all but synchronise and empty_cache
    std::uint16_t stream = 0; // dense; 0 is the default stream
    Action action = Action::allocate;
    std::uint8_t pool = 0; // 0: the allocator's own; others are private, as those of CUDA graphs
};

// A block that was alive before the first request.
struct StartBlock {
    BlockId block = 0;
    std::uint64_t offset = 0;      // in its segment
    std::uint64_t bytes = 0;       // as it was asked for
    std::uint64_t place_bytes = 0; // its place's; 0: the log does not tell, see start_places.hpp
};

// What the recorded allocator held before the first request. Empty for a log from the start.
struct StartSegment {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint16_t stream = 0;
    std::uint8_t pool = 0;
    bool small = false;             // in PyTorch's pool for blocks up to 1 MiB
    std::vector<StartBlock> blocks; // live ones, by offset; what lies between them is free
};

struct Trace {
    int device = 0;
    std::vector<StartSegment> at_start;
    std::vector<Request> requests;
    std::vector<SiteId> sites; // by BlockId
    // Used on the device by others than this allocator: contexts, code.
    std::uint64_t base_bytes = 0;
    std::uint64_t device_bytes = 0;   // the size of the device that it ran on; 0: not known
    std::vector<std::string> unknown; // what the log does not tell, in whole sentences
};

} // namespace vramscope::report::plan
