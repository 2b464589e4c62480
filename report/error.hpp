// report/error.hpp — the one exception of the offline half, and the exit status that it becomes.
//
// The message is one line: which file, what is wrong, what to do. main() prints it at the latest.
#pragma once

#include <stdexcept>
#include <string>

namespace vramscope::report {

enum class Exit : int {
    ok = 0,
    findings = 100,         // check: a budget is exceeded
    regressed = 101,        // diff: something became worse
    nothing_observed = 110, // no CUDA memory call
    incomplete = 111, // a crash, cut, damaged, or events lost: nothing failed, as far as known
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
