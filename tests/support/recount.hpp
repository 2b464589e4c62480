// tests/support/recount.hpp — counts a random program's memory as plainly as possible.
//
// It keeps one list of what is alive, and searches it from end to end, step by step in the order of
// time. It shares nothing with the replay but the names of the kinds of memory.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/random_program.hpp"

namespace vramscope::test {

struct Place {
    std::string kind; // "leaked-at-exit", …
    format::Memory memory = format::Memory::none;
    std::int64_t device = -1;
    std::string entry_point;
    std::uint64_t stack = 0;
    auto operator<=>(const Place&) const = default;
};

struct Held {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
    bool operator==(const Held&) const = default;
};

struct DeviceSums {
    std::uint64_t reserved = 0;
    std::uint64_t reserved_peak = 0;
    std::uint64_t allocated = 0;
    std::uint64_t allocated_peak = 0;
    std::uint64_t requested = 0;
    std::uint64_t pending = 0;    // freed, and not safe to hand out yet
    std::uint64_t releasable = 0; // segments without a block or a pending one
    std::uint64_t stuck = 0;      // what is free in the others
    bool operator==(const DeviceSums&) const = default;
};

struct Recount {
    std::uint64_t events = 0;
    std::uint64_t allocations = 0; // allocations of any kind
    std::uint64_t frees = 0;
    std::uint64_t unmatched_frees = 0;
    std::uint64_t missed_frees = 0;
    std::uint64_t graph_allocations = 0;
    std::uint64_t memory_allocations = 0; // those of the program's own memory
    std::uint64_t memory_frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t device_bytes = 0; // alive now
    std::uint64_t host_bytes = 0;
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t peak_host_bytes = 0;
    std::map<Place, Held> lost;                   // at the end
    Held reservations;                            // at the end too
    std::map<std::int64_t, DeviceSums> pool;      // by device
    std::map<std::int64_t, std::uint64_t> direct; // by device, past the pool: alive now
};

// `exit_began_ticks`: when the program's exit began; 0: it did not.
Recount recount(std::vector<Step> steps, std::uint64_t exit_began_ticks = 0);

} // namespace vramscope::test
