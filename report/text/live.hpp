// report/text/live.hpp — what running programs hold: all of it, one below the other.
//
// Plain text but for colour, safe for a terminal, no line wider than the style says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/live.hpp"

namespace vramscope::report {

// Per second: since the look before, or of the whole run.
struct LiveRates {
    double events = 0;
    double allocations = 0;
    double frees = 0;
};

struct LiveProgram {
    LiveState state;
    LiveRates rates;
    // Bytes per second that each of state.stacks holds more since the look before; empty, or
    // nothing: not known.
    std::vector<std::optional<double>> changes;
    bool ended = false;
};

struct LiveStyle {
    bool color = false;
    std::size_t width = 100;
    std::size_t stacks = SIZE_MAX; // of each program; how many more there are is said
};

std::vector<std::string> live_lines(const std::vector<LiveProgram>& programs,
                                    const LiveStyle& style);

} // namespace vramscope::report
