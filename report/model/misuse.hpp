// report/model/misuse.hpp — frees that were wrong, and all other calls that the driver refused.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

// What a free that was refused did wrong, as far as the log proves it.
enum class MisuseKind : std::uint8_t {
    double_free,
    never_allocated,
    after_context, // its context was destroyed before
    wrong_api,     // the block is of another kind than what this function frees
    interior_pointer,
    unknown, // events are missing, or too many addresses were misused to follow them all
    none,    // the block was there: the driver had another reason
};

struct MisuseNumbers {
    MisuseKind kind = MisuseKind::unknown;
    std::uint64_t calls = 0;
    // Of the first call, as are the next four: the address is as the program gave it.
    std::uint64_t address = 0;
    std::uint64_t offset = 0;                     // how far the address is into its block
    std::uint64_t bytes = 0;                      // size of the block
    format::Memory memory = format::Memory::none; // the block's; none: no block is known
    std::uint64_t result = 0;                     // the driver's answer: a CUresult
};

struct Misuse : MisuseNumbers {
    TimedCall call;
    std::uint64_t last_ns = 0;
    std::optional<TimedCall> allocation;
    std::optional<TimedCall> ended; // the free before, or the death of the context
    std::size_t process = 0;        // index into Report::processes
};

struct FailedNumbers {
    std::uint64_t result = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;                // bytes asked for by all calls together
    std::uint64_t least_bytes = UINT64_MAX; // the least of any call; 0: not known, or no allocation
    std::uint64_t most_bytes = 0;

    void add(const FailedNumbers& more) // of the same result
    {
        calls += more.calls;
        bytes += more.bytes;
        least_bytes = std::min(least_bytes, more.least_bytes);
        most_bytes = std::max(most_bytes, more.most_bytes);
    }
};

struct FailedCall : CallPlace, FailedNumbers {
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::size_t process = 0;
};

// The word of the JSON report: "double-free".
const char* name(MisuseKind kind) noexcept;

} // namespace vramscope::report
