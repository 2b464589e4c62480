// tracker/lifecycle/ranges.hpp — ranges and marks, which a program may use long before CUDA.
//
// They work at any time. Before a log is open, ranges are remembered while they are open, and marks
// are dropped.
#pragma once

#include <atomic>
#include <string_view>

namespace vramscope::log {

void push_range(std::string_view name) noexcept;
void pop_range() noexcept;
void mark(std::string_view name) noexcept;

// What may be told of such a moment, before its record is written. Null: there is nothing.
extern constinit std::atomic<void (*)() noexcept> before_mark;

} // namespace vramscope::log
