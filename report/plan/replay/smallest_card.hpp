// report/plan/replay/smallest_card.hpp — the smallest device that serves a whole trace.
#pragma once

#include <cstdint>
#include <optional>

#include "report/plan/replay/replay.hpp"

namespace vramscope::report::plan {

struct SmallestCard {
    std::uint64_t bytes = 0; // the whole trace is served, and 2 MiB less are too few
    // More is not always enough: the largest size above it that was tried and fails.
    std::optional<std::uint64_t> fails_above;
    Outcome outcome; // what the replay on it came to
    std::uint64_t replays = 0;
};

// By bisection in steps of 2 MiB, each a full replay. `unlimited` is the outcome without a limit.
// Nothing: a policy that fails on a device of any size.
std::optional<SmallestCard> smallest_card(const Trace& trace, const PolicyRow& policy,
                                          const Outcome& unlimited);

} // namespace vramscope::report::plan
