// report/model/damage.hpp — memory that was written while it was free, or beyond a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

struct DamageNumbers {
    format::Damage kind = format::Damage::overrun;
    std::uint64_t times = 0;
    std::uint64_t address = 0; // this and what follows are of the first block
    std::int64_t offset = 0;   // where the first wrong byte is
    std::uint64_t wrong_bytes = 0;
    std::uint64_t block_bytes = 0; // size as asked for; 0: not known
};

struct Damage : DamageNumbers {
    TimedCall noticed;                   // no entry point: the pool looked at its own moments
    std::optional<TimedCall> allocation; // not known, where events are missing
    std::optional<TimedCall> ended;      // the free
    std::uint64_t last_ns = 0;
    std::size_t process = 0; // index into Report::processes
};

} // namespace vramscope::report
