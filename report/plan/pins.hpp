// report/plan/pins.hpp — which blocks keep segments from going back, at one moment of a replay.
//
// The segments and the addresses are those of a policy: of the recorded one they are those of the
// program's own allocator, as far as its rules are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/model/plan/plan.hpp"
#include "report/plan/places.hpp"
#include "report/plan/replay/policy.hpp"
#include "report/plan/replay/replay.hpp"

namespace vramscope::report::plan {

struct PlacedBlock {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0; // as the program asked for them
    BlockId block = 0;
};

struct PlacedSegment {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::vector<PlacedBlock> blocks; // by address

    std::uint64_t free_bytes() const noexcept;
};

// The segments as they were after each of the requests, which are in their order. The trace is
// replayed on a device of this capacity.
std::vector<std::vector<PlacedSegment>>
segments_at(const Trace& trace, const PolicyRow& policy, const std::vector<std::size_t>& requests,
            std::uint64_t capacity = CountedDevice::kNoLimit);

// What is free in a segment is held by the block of it that is freed last; the largest first.
std::vector<PlanPin> find_pins(const std::vector<PlacedSegment>& segments,
                               const TraceWatch::DeviceTrace& device, std::size_t request,
                               Places& places);

// The blocks of fewest bytes whose release would have made room for so many bytes: neighbours of
// one segment, or all of some segments, which then go back to a device that has `left` more.
std::vector<PlanPin> room_for(std::uint64_t bytes, std::uint64_t left,
                              const std::vector<PlacedSegment>& segments,
                              const TraceWatch::DeviceTrace& device, Places& places);

} // namespace vramscope::report::plan
