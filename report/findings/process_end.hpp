// report/findings/process_end.hpp — how a traced process ended, judged from what it and its parent
// wrote down.
#pragma once

#include <cstdint>
#include <string>

#include "tracker/format/layout.hpp"

namespace vramscope::report {

struct ProcessEnd {
    enum class Kind {
        unknown, // killed, crashed, or the machine stopped: nobody saw it
        exited,  // exit(), return from main, or an exit status that the parent saw
        quick_exit,
        underscore_exit,
        killed,   // by `signal`
        replaced, // by exec: the program that was traced is gone, without an exit
        running,
    };

    Kind kind = Kind::unknown;
    int status = 0; // valid for the three exits
    int signal = 0; // valid for killed

    // Whether the program came to an end of its own, so that what it still held was never going to
    // be freed.
    bool conclusive() const noexcept;

    // By a fault of its own: SIGSEGV, SIGABRT and the like.
    bool crashed() const noexcept;
};

// `running`: the process is alive right now (process_is_running).
ProcessEnd judge_end(const format::FileHeader& header, bool running) noexcept;

// Field 22 of /proc/PID/stat, which tells a process from a later one with its pid. 0: there is
// none, or it is a zombie.
std::uint64_t process_start(std::uint32_t pid);

// A process with this pid and this start time (field 22 of /proc/PID/stat) exists and is no zombie.
bool process_is_running(std::uint32_t pid, std::uint64_t start_time);

// "exited with status 0", "was killed by signal 11 (SIGSEGV)": the rest of a sentence about the
// program.
std::string describe(const ProcessEnd& end);

// "exited", "killed", …: the word in the JSON report.
const char* name(ProcessEnd::Kind kind) noexcept;

} // namespace vramscope::report
