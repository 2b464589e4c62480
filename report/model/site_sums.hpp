// report/model/site_sums.hpp — all that a call place of a process allocated: for tables, which have
// every place, where lists for a reader have those that matter.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/growth.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// A call as a reader sees it, a kind of memory and a device.
struct SiteSums : CallPlace {
    format::Memory memory = format::Memory::none;
    std::int32_t device = -1; // -1: not known
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0; // over the run
    std::uint64_t live_bytes = 0;      // at the end of the log
    std::uint64_t live_blocks = 0;
    // The most at once; of a place that is several to the recorder (in several contexts, ranges or
    // hidden frames) the sum of their peaks, which is no less.
    std::uint64_t peak_bytes = 0;
    std::uint64_t at_peak_bytes = 0; // when the most was allocated on the device
    // Of what no rule suppresses.
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
    LeakClass leak_class = LeakClass::unclear; // of the largest leak; valid where it leaked
    GrowthRate growth;                         // none: it does not grow
};

// What tells such rows apart.
using PlaceKey = std::tuple<std::string, format::Memory, std::int32_t>;

inline PlaceKey key_of_place(const CallPlace& place, format::Memory memory, std::int32_t device)
{
    return {place.key(), memory, device};
}

template <typename Row>
PlaceKey key_of_place(const Row& row)
{
    return key_of_place(row, row.memory, row.device);
}

} // namespace vramscope::report
