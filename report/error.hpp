// report/error.hpp — the one exception of the offline half, and the exit status that it becomes.
//
// The message is one line: which file, what is wrong, what to do. `vramscope` catches it once, in
// main.
#pragma once

#include <stdexcept>
#include <string>

namespace vramscope::report {

enum class Exit : int {
    ok = 0,
    findings = 100, // a check failed: leaks, growth, peak
    regressed = 101,
    nothing_observed = 110,
    incomplete = 111, // cut, damaged, or events lost: the verdict is unknown
    bad_input = 120,
    usage = 125, // wrong usage, or a fault of our own
};

class Error : public std::runtime_error {
public:
    Error(Exit exit, const std::string& message) : std::runtime_error(message), exit_(exit) {}

    Exit exit() const noexcept { return exit_; }

private:
    Exit exit_;
};

} // namespace vramscope::report
