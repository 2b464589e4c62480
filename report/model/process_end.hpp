// report/model/process_end.hpp — how a traced process ended.
#pragma once

#include <string>

#include "report/model/fields.hpp"

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

    bool has_status() const noexcept { return conclusive() && kind != Kind::replaced; }
    bool has_signal() const noexcept { return kind == Kind::killed; }

    // After all that was read: it may have freed later what it still held.
    bool went_on() const noexcept { return kind == Kind::running || kind == Kind::not_read; }

    // By a fault of its own: SIGSEGV, SIGABRT and the like.
    bool crashed() const noexcept;
};

std::string signal_name(int signal); // "SIGSEGV", "signal 99"

// The rest of a sentence about the program: "was killed by signal 11 (SIGSEGV)".
std::string describe(const ProcessEnd& end);

template <>
struct Words<ProcessEnd::Kind> {
    static constexpr format::Word<ProcessEnd::Kind> kAll[] = {
        {ProcessEnd::Kind::exited, "exited"},
        {ProcessEnd::Kind::quick_exit, "quick-exit"},
        {ProcessEnd::Kind::underscore_exit, "underscore-exit"},
        {ProcessEnd::Kind::killed, "killed"},
        {ProcessEnd::Kind::replaced, "replaced"},
        {ProcessEnd::Kind::running, "running"},
        {ProcessEnd::Kind::not_read, "not-read"},
        {ProcessEnd::Kind::unknown, "unknown"},
    };
};
template <>
struct Fields<ProcessEnd> {
    static constexpr const char* kName = "end";
    static constexpr FieldList kAll{
        Field{"kind", &ProcessEnd::kind},
        Field{"status", When{&ProcessEnd::has_status, &ProcessEnd::status}}.at_least(0).at_most(
            255),
        Field{"signal", When{&ProcessEnd::has_signal, &ProcessEnd::signal}}.at_least(1),
        Field{"text", &describe}.not_empty(),
    };
};

} // namespace vramscope::report
