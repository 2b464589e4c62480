// report/model/live.hpp — what a running program holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/growth.hpp"
#include "report/model/headline.hpp"
#include "report/model/leaks.hpp"
#include "report/model/memory/waterfall.hpp"

namespace vramscope::report {

struct LiveDevice {
    std::int32_t ordinal = -1; // -1: not known
    std::string name{};
    std::string uuid{};            // empty: not known
    std::uint64_t total_bytes = 0; // 0: not known
    std::uint64_t limit_bytes = 0; // the same, or what a limit leaves of it
    std::uint64_t held_bytes = 0;
    std::uint64_t blocks = 0;
    // What the internal pool holds, if the log has one: whole blocks, as they were rounded up.
    bool pooled = false;
    std::uint64_t reserved_bytes = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t pending_bytes = 0; // freed, not safe to reuse yet
    Waterfall memory{};              // as a report's timeline has it
    std::uint64_t peak_allocated = 0;
};

// Memory is what the program owns: on devices, and pinned or registered on the host.
struct LiveState {
    std::uint32_t pid = 0;
    std::string program;
    std::string rank;                 // empty: none, or not known
    std::string job;                  // by the launcher's name for it; empty: the same
    std::uint64_t opened_real_ns = 0; // the log, by the wall clock
    std::uint64_t age_ns = 0;         // since the log was opened
    std::uint64_t device_bytes = 0;
    std::uint64_t device_blocks = 0;
    std::uint64_t host_bytes = 0;
    std::uint64_t host_blocks = 0;
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t peak_host_bytes = 0;
    std::uint64_t events = 0;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t lost_events = 0;
    std::uint64_t shortages = 0; // allocations that failed for want of memory
    // How much of the log that there was, and up to which time of the run: the state is of then.
    double fraction_read = 1;
    std::uint64_t read_to_ns = 0;    // where that is below 1
    std::vector<LiveDevice> devices; // sorted by ordinal
    std::vector<Leak> stacks;        // those that hold the most, and how they grow; in_use
    std::uint64_t more_stacks = 0;
    std::vector<Growth> growing;    // as far as no event is lost; the fastest first
    std::vector<Headline> findings; // up to now: what grows, and what the driver refused
};

} // namespace vramscope::report
