// report/findings/misuse.hpp — frees that the driver refused, and why they were wrong; and all
// other calls that it refused.
//
// Calls are one row when process, kind and all their visible stacks agree. What cannot be proven
// from the log is no row here: a free that was refused of a block that was there is a failed call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/findings/places/stack_reader.hpp"
#include "report/log/tick_clock.hpp"
#include "report/replay/misuse.hpp"

namespace vramscope::report {

struct TimedCall : CallPlace {
    std::uint64_t at_ns = 0; // since the log was opened
};

struct Misuse {
    MisuseKind kind = MisuseKind::unknown;
    std::uint64_t calls = 0;
    std::uint64_t address = 0;                    // of the first call, as is what follows
    std::uint64_t offset = 0;                     // in the block
    std::uint64_t bytes = 0;                      // of the block
    format::Memory memory = format::Memory::none; // none: no block is known
    std::uint64_t result = 0;                     // of the driver: a CUresult
    TimedCall call;
    std::uint64_t last_ns = 0;
    std::optional<TimedCall> allocation;
    std::optional<TimedCall> ended; // the free before, or the death of the context
    std::size_t process = 0;        // index into Report::processes
};

struct FailedCall : CallPlace {
    std::uint64_t result = 0;
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;                // asked for, by all together
    std::uint64_t least_bytes = UINT64_MAX; // by any one; 0: not known, or no allocation
    std::uint64_t most_bytes = 0;
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::size_t process = 0;
};

// One process's log.
struct CallSource {
    const TickClock& clock;
    StackReader& stacks;
    std::size_t process;
};

TimedCall read_call(const LoggedCall& call, const CallSource& source);
std::optional<TimedCall> read_call_if_any(const LoggedCall& call, const CallSource& source);

// Both: in the order of their first calls.
std::vector<Misuse> find_misuse(const std::vector<LoggedMisuse>& logged, const CallSource& source);
std::vector<FailedCall> find_failed_calls(const std::vector<FailedGroup>& groups,
                                          const CallSource& source);

// "cudaFree of 0x7f0000000000, allocated at main (a.cpp:12), first freed at …": what a free that
// never came back was.
std::string describe_free(const LoggedMisuse& free, const CallSource& source);

// The word of the JSON report: "double-free".
const char* name(MisuseKind kind) noexcept;

} // namespace vramscope::report
