// report/model/process_end.cpp — the end of a process in words.
#include "report/model/process_end.hpp"

#include <csignal>
#include <cstddef>
#include <iterator>

namespace vramscope::report {

namespace {

constexpr const char* kSignals[] = {
    nullptr,     "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

bool is_named(int signal)
{
    return signal > 0 && static_cast<std::size_t>(signal) < std::size(kSignals);
}

std::string describe_signal(int signal)
{
    std::string text = "was killed by signal " + std::to_string(signal);
    if (is_named(signal))
        text += std::string(" (") + kSignals[signal] + ")";
    return text;
}

} // namespace

std::string signal_name(int signal)
{
    return is_named(signal) ? kSignals[signal] : "signal " + std::to_string(signal);
}

bool ProcessEnd::conclusive() const noexcept
{
    return kind == Kind::exited || kind == Kind::quick_exit || kind == Kind::underscore_exit ||
           kind == Kind::replaced;
}

bool ProcessEnd::crashed() const noexcept
{
    return kind == Kind::killed && (signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT ||
                                    signal == SIGILL || signal == SIGFPE);
}

std::string describe(const ProcessEnd& end)
{
    const std::string with_status = " with status " + std::to_string(end.status);
    switch (end.kind) {
    case ProcessEnd::Kind::exited:
        return "exited" + with_status;
    case ProcessEnd::Kind::quick_exit:
        return "ended by quick_exit" + with_status;
    case ProcessEnd::Kind::underscore_exit:
        return "ended by _exit" + with_status;
    case ProcessEnd::Kind::killed:
        return describe_signal(end.signal);
    case ProcessEnd::Kind::replaced:
        return "was replaced by another program (exec)";
    case ProcessEnd::Kind::running:
        return "is still running";
    case ProcessEnd::Kind::not_read:
        return "went on: its end was not read";
    case ProcessEnd::Kind::unknown:
        break;
    }
    return "ended unseen: killed, crashed, or the machine stopped";
}

} // namespace vramscope::report
