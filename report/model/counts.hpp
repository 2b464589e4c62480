// report/model/counts.hpp — what was counted while a log was read, of one process or of all.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vramscope::report {

// Memory that the program owns, on devices and host: without reservations of addresses and without
// a graph's own.
struct MemoryCounts {
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t peak_device_bytes = 0; // device, managed, array and physical memory together
    std::uint64_t peak_host_bytes = 0;   // pinned and registered

    // Of peaks, the larger one.
    MemoryCounts& operator+=(const MemoryCounts& other)
    {
        allocations += other.allocations;
        frees += other.frees;
        allocated_bytes += other.allocated_bytes;
        peak_device_bytes = std::max(peak_device_bytes, other.peak_device_bytes);
        peak_host_bytes = std::max(peak_host_bytes, other.peak_host_bytes);
        return *this;
    }
};

struct EventCounts {
    std::uint64_t events = 0;           // every record with a time
    std::uint64_t allocations = 0;      // of any kind but owners, reservations included
    std::uint64_t frees = 0;            // those that met their block
    std::uint64_t unmatched_frees = 0;  // of a pointer that was not seen allocated
    std::uint64_t missed_frees = 0;     // an address was handed out again, its free was not seen
    std::uint64_t undefined_events = 0; // of an entry point that the log does not define
    std::uint64_t graph_allocations = 0;
    std::uint64_t failed_calls = 0;
    std::uint64_t names_given = 0; // to memory, so that others can open it
    std::uint64_t pool_trims = 0;

    EventCounts& operator+=(const EventCounts& other)
    {
        events += other.events;
        allocations += other.allocations;
        frees += other.frees;
        unmatched_frees += other.unmatched_frees;
        missed_frees += other.missed_frees;
        undefined_events += other.undefined_events;
        graph_allocations += other.graph_allocations;
        failed_calls += other.failed_calls;
        names_given += other.names_given;
        pool_trims += other.pool_trims;
        return *this;
    }
};

} // namespace vramscope::report
