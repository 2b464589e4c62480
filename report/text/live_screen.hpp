// report/text/live_screen.hpp — running programs on one screen, as its reader wants to see them.
//
// A line for each program, the chosen one's sums, and its call stacks, of which one is chosen too.
// Where there is little room, stacks give way first, then the programs that are far from the chosen
// one. Plain text but for colour, safe for a terminal, no line wider than the screen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/text/live.hpp"

namespace vramscope::report {

enum class LiveOrder {
    bytes,  // what holds the most
    growth, // what grows over the program's steps, the fastest first
    rate,   // what took the most since the look before
};

// What its reader has chosen. A program is known by its number, a call stack by live_key(), so that
// both stay chosen when others go past them; where one is gone, the first is.
struct LiveView {
    std::uint32_t program = 0;
    std::string stack{};
    LiveOrder order = LiveOrder::bytes;
    std::string match{}; // shown are stacks with a frame, or an entry point, that has this text
    bool typing = false; // ... which is being typed
    bool stack_open = false;
    bool help = false;
};

struct LiveScreenSize {
    std::size_t width = 80;
    std::size_t height = 24;
};

std::string live_key(const Leak& stack);
// Indexes: of the chosen program; of state.stacks, those that are shown, in their order; of the
// chosen one among these.
std::size_t chosen_program(const std::vector<LiveProgram>& programs, const LiveView& view);
std::vector<std::size_t> shown_stacks(const LiveProgram& program, const LiveView& view);
std::size_t chosen_stack(const LiveProgram& program, const std::vector<std::size_t>& shown,
                         const LiveView& view);

// As many lines as the screen has at most. `programs` are not empty; `seconds`: from look to look.
std::vector<std::string> live_screen(const std::vector<LiveProgram>& programs, const LiveView& view,
                                     LiveScreenSize size, bool color, double seconds);

} // namespace vramscope::report
