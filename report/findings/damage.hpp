// report/findings/damage.hpp — memory that was written while it was free, or beyond a block, with
// the stacks of its allocation, its free, and of the moment at which the pool noticed.
//
// One row when process, kind and the visible stacks agree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/findings/misuse.hpp"
#include "report/replay/damage.hpp"

namespace vramscope::report {

struct Damage {
    format::Damage kind = format::Damage::overrun;
    std::uint64_t times = 0;
    std::uint64_t address = 0; // of the first block, as is what follows
    std::int64_t offset = 0;   // of the first wrong byte
    std::uint64_t wrong_bytes = 0;
    std::uint64_t block_bytes = 0;       // 0: not known
    TimedCall noticed;                   // no entry point: the pool looked at its own moments
    std::optional<TimedCall> allocation; // not known, where events are missing
    std::optional<TimedCall> ended;      // the free
    std::uint64_t last_ns = 0;
    std::size_t process = 0; // index into Report::processes
};

// In the order of their first moments.
std::vector<Damage> find_damage(const std::vector<LoggedDamage>& logged, const CallSource& source);

// The word of the JSON report: "use-after-free".

} // namespace vramscope::report
