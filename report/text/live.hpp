// report/text/live.hpp — what running programs hold, as the lines of one screen.
//
// Plain text but for colour, safe for a terminal, no line wider than the style says.
#pragma once

#include <cstddef>
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
    bool ended = false;
};

struct LiveStyle {
    bool color = false;
    std::size_t width = 100;
    std::size_t height = 0; // 0: as many lines as there are; else call stacks give way first
};

std::vector<std::string> live_lines(const std::vector<LiveProgram>& programs,
                                    const LiveStyle& style);

} // namespace vramscope::report
