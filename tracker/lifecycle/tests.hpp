// tracker/lifecycle/tests.hpp — the tests that a program says begin and end, often before CUDA.
//
// They are those of the process: any thread may say so. What began before a log is open is
// remembered, one test at most, and is written when the log is opened.
#pragma once

#include <string_view>

#include "tracker/format/enumerations.hpp"

namespace vramscope::log {

struct Thread;

void tell_of_test(std::string_view name, format::TestState state) noexcept;

// The thread has just opened the log of this process.
void write_remembered_test(Thread& thread) noexcept;

} // namespace vramscope::log
