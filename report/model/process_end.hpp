// report/model/process_end.hpp — how a traced process ended.
#pragma once

#include <string>

namespace vramscope::report {

struct ProcessEnd {
    enum class Kind {
        unknown, // killed, crashed, or the machine stopped: its end was not seen
        exited,  // exit(), return from main, or an exit status that the parent saw
        quick_exit,
        underscore_exit,
        killed,   // `signal` ended it
        replaced, // an exec replaced the traced program, which had no exit
        running,
        not_read, // the reader was told to stop before it
    };

    Kind kind = Kind::unknown;
    int status = 0; // valid for the three exits
    int signal = 0; // valid for killed

    // Whether the program came to an end of its own, and would never have freed what it still held.
    bool conclusive() const noexcept;

    // After all that was read: it may have freed later what it still held.
    bool went_on() const noexcept { return kind == Kind::running || kind == Kind::not_read; }

    // By a fault of its own: SIGSEGV, SIGABRT and the like.
    bool crashed() const noexcept;
};

// The rest of a sentence about the program: "was killed by signal 11 (SIGSEGV)".
std::string describe(const ProcessEnd& end);

// "exited", "killed", …: the word in the JSON report.
const char* name(ProcessEnd::Kind kind) noexcept;

} // namespace vramscope::report
