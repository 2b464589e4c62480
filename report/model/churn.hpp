// report/model/churn.hpp — what allocating costs a process: how often, and how long in the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kShortLifeNs = 1'000'000;

// Calls of one entry point that reached the driver, the pool's own among them.
struct DriverCalls {
    std::string entry_point;
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0; // the longest call that was timed
};

struct ChurnNumbers {
    std::uint64_t temporary = 0;
    std::uint64_t short_lived = 0;      // for less than kShortLifeNs
    std::uint64_t redundant = 0;        // allocations of a size that its site had freed before
    std::uint64_t redundant_driver = 0; // those redundant ones that asked the driver

    void add(const ChurnNumbers& more)
    {
        temporary += more.temporary;
        short_lived += more.short_lived;
        redundant += more.redundant;
        redundant_driver += more.redundant_driver;
    }
};

// One place of the program.
struct ChurnSite : CallPlace, ChurnNumbers {
    std::int32_t device = -1; // -1: not known, or several
    format::Memory memory = format::Memory::none;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
};

struct SizeBin {
    std::uint64_t from_bytes = 0; // the bin ends below twice this size
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};

struct LifetimeBin {
    std::uint64_t below_ns = 0; // 0: no bound
    std::uint64_t blocks = 0;   // blocks that were freed
};

struct ChurnReport : ChurnNumbers {
    std::uint64_t allocations = 0; // of device and host memory, as are all numbers here
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t redundant_ns = 0; // about the time these and their frees took in the driver
    std::uint64_t driver_calls = 0; // 0: the log does not tell (before version 3.1)
    std::uint64_t driver_ns = 0;
    std::vector<DriverCalls> driver; // the longest first
    std::vector<SizeBin> sizes;      // without the empty ones at both ends
    std::vector<LifetimeBin> lifetimes;
    std::vector<ChurnSite> sites; // the kMostChurnSites with the most redundant pairs, then calls
    std::uint64_t more_sites = 0;
};

inline constexpr std::size_t kMostChurnSites = 50;

} // namespace vramscope::report
