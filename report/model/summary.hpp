// report/model/summary.hpp — a report in a few numbers, by the names that `diff` compares them by.
#pragma once

#include <cstdint>

#include "report/model/verdict.hpp"

namespace vramscope::report {

// Of several processes: the highest peak of any, else sums.
struct Summary {
    Verdict verdict = Verdict::inconclusive;
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
    std::uint64_t unclosed_imports = 0;
    std::uint64_t growing_stacks = 0;
    std::uint64_t peak_bytes = 0;
    std::uint64_t peak_reserved_bytes = 0;
    std::uint64_t peak_host_bytes = 0;
    std::uint64_t allocations = 0;
    std::uint64_t driver_calls = 0;
    std::uint64_t out_of_memory = 0;
    std::uint64_t wrong_frees = 0;
    std::uint64_t damaged_blocks = 0;
    std::uint64_t failed_calls = 0;
    std::uint64_t lost_events = 0;
};
template <>
struct Fields<Summary> {
    static constexpr const char* kName = "summary";
    static constexpr const char* kSays =
        "The report in a few numbers, each of which it has in more detail too. Of several "
        "processes: the highest peak of any, else sums.";
    static constexpr FieldList kAll{
        Field{"verdict", &Summary::verdict},
        Field{"leaked_bytes", &Summary::leaked_bytes},
        Field{"leaked_blocks", &Summary::leaked_blocks},
        Field{"unclosed_imports", &Summary::unclosed_imports},
        Field{"growing_stacks", &Summary::growing_stacks,
              "Call stacks whose memory grows up to the end of the work."},
        Field{"peak_bytes", &Summary::peak_bytes, "Allocated, on any one device."},
        Field{"peak_reserved_bytes", &Summary::peak_reserved_bytes,
              "The same, with what the pool kept."},
        Field{"peak_host_bytes", &Summary::peak_host_bytes},
        Field{"allocations", &Summary::allocations},
        Field{"driver_calls", &Summary::driver_calls,
              "Allocations and frees that reached the driver."},
        Field{"out_of_memory", &Summary::out_of_memory,
              "Allocations that failed for want of memory."},
        Field{"wrong_frees", &Summary::wrong_frees, "That the log proves wrong."},
        Field{"damaged_blocks", &Summary::damaged_blocks},
        Field{"failed_calls", &Summary::failed_calls,
              "Other calls that the driver refused and that were recorded."},
        Field{"lost_events", &Summary::lost_events},
    };
};

} // namespace vramscope::report
