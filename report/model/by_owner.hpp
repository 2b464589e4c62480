// report/model/by_owner.hpp — memory by the owners that a team names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "report/model/fields.hpp"

namespace vramscope::report {

// What one owner had of one device, or of the host. The owners of a device add up to all of it.
struct OwnerSums {
    std::string owner;        // "other": no owner has it
    std::int32_t device = -1; // -1: host memory, or not known
    std::size_t process = 0;  // index into Report::processes
    std::uint64_t allocations = 0;
    std::uint64_t allocated_bytes = 0; // over the run
    std::uint64_t at_peak_bytes = 0;   // when the most was allocated on the device; host: 0
    std::uint64_t live_bytes = 0;      // at the end of the log
    std::uint64_t live_blocks = 0;
};
template <>
struct Fields<OwnerSums> {
    static constexpr const char* kName = "owner_sums";
    static constexpr const char* kSays = "One owner's memory on one device, or on the host.";
    static constexpr FieldList kAll{
        Field{"owner", &OwnerSums::owner, "As --owners names it; other: what none of them has."}
            .not_empty(),
        Field{"device", Ordinal{&OwnerSums::device}, "null: host memory, or not known."},
        Field{"process", &OwnerSums::process, "Index into processes."},
        Field{"allocations", &OwnerSums::allocations},
        Field{"allocated_bytes", &OwnerSums::allocated_bytes, "Over the run."},
        Field{"at_peak_bytes", &OwnerSums::at_peak_bytes,
              "When the most was allocated on the device; of host memory 0."},
        Field{"live_bytes", &OwnerSums::live_bytes, "At the end of the log."},
        Field{"live_blocks", &OwnerSums::live_blocks},
    };
};

} // namespace vramscope::report
