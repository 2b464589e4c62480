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
template <>
struct Fields<Damage> {
    static constexpr const char* kName = "damage";
    static constexpr const char* kSays = "One row per stacks; address, offset, wrong_bytes and "
                                         "block_bytes are those of the first.";
    static constexpr FieldList kAll{
        Field{"kind", &Damage::kind,
              "use-after-free: bytes of a freed block changed before it was handed out again. "
              "overrun: bytes behind a block changed. underrun: bytes before it."},
        Field{"times", &Damage::times}.at_least(1),
        Field{"address", Hex{&Damage::address}, "Of the block."},
        Field{"offset", &Damage::offset,
              "Of the first wrong byte, from address; negative: before the block."},
        Field{"wrong_bytes", &Damage::wrong_bytes},
        Field{"block_bytes", OrNull{&Damage::block_bytes}},
        Field{"last_ns", &Damage::last_ns},
        Field{"process", &Damage::process, "Index into processes."},
        Field{"noticed", &Damage::noticed,
              "Where the pool looked: the write was before. Its entry_point is empty."},
        Field{"allocation", &Damage::allocation},
        Field{"freed", &Damage::ended},
    };
};

} // namespace vramscope::report
