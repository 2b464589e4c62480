// report/findings/process_end.cpp — the header's own word, overruled by what the parent saw.
#include "report/findings/process_end.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/wait.h>

namespace vramscope::report {

namespace {

constexpr const char* kSignals[] = {
    nullptr,     "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

std::string describe_signal(int signal)
{
    std::string text = "was killed by signal " + std::to_string(signal);
    if (signal > 0 && static_cast<std::size_t>(signal) < std::size(kSignals))
        text += std::string(" (") + kSignals[signal] + ")";
    return text;
}

ProcessEnd::Kind kind_of(format::End end) noexcept
{
    switch (end) {
    case format::End::exit:
        return ProcessEnd::Kind::exited;
    case format::End::quick_exit:
        return ProcessEnd::Kind::quick_exit;
    case format::End::underscore_exit:
        return ProcessEnd::Kind::underscore_exit;
    case format::End::unknown:
        break;
    }
    return ProcessEnd::Kind::unknown;
}

} // namespace

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

ProcessEnd judge_end(const format::FileHeader& header, bool running) noexcept
{
    if (header.snapshot_ticks != 0)
        return {.kind = ProcessEnd::Kind::running}; // when the copy was made
    const ProcessEnd::Kind own_word = kind_of(header.end);
    if (header.exec_seen != 0 && own_word == ProcessEnd::Kind::unknown)
        return {.kind = ProcessEnd::Kind::replaced}; // wait_status is that of the new program
    if (header.waited != 0 && WIFSIGNALED(header.wait_status))
        return {.kind = ProcessEnd::Kind::killed, .signal = WTERMSIG(header.wait_status)};
    if (header.waited != 0 && WIFEXITED(header.wait_status)) {
        const auto kind =
            own_word == ProcessEnd::Kind::unknown ? ProcessEnd::Kind::exited : own_word;
        return {.kind = kind, .status = WEXITSTATUS(header.wait_status)};
    }
    if (running)
        return {.kind = ProcessEnd::Kind::running};
    return {.kind = own_word, .status = header.end_status & 0xff};
}

std::uint64_t process_start(std::uint32_t pid)
{
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(in, stat);
    // Field 2 is the name in parentheses and may hold anything: fields are counted after the last
    // parenthesis.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos)
        return 0;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string state;
    fields >> state;
    std::string skipped;
    for (int field = 4; field <= 21; ++field)
        fields >> skipped;
    std::uint64_t start = 0;
    fields >> start;
    return fields && state != "Z" && state != "X" ? start : 0;
}

bool process_is_running(std::uint32_t pid, std::uint64_t start_time)
{
    return pid != 0 && start_time != 0 && process_start(pid) == start_time;
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
    case ProcessEnd::Kind::unknown:
        break;
    }
    return "ended unseen: killed, crashed, or the machine stopped";
}

const char* name(ProcessEnd::Kind kind) noexcept
{
    switch (kind) {
    case ProcessEnd::Kind::exited:
        return "exited";
    case ProcessEnd::Kind::quick_exit:
        return "quick-exit";
    case ProcessEnd::Kind::underscore_exit:
        return "underscore-exit";
    case ProcessEnd::Kind::killed:
        return "killed";
    case ProcessEnd::Kind::replaced:
        return "replaced";
    case ProcessEnd::Kind::running:
        return "running";
    case ProcessEnd::Kind::unknown:
        break;
    }
    return "unknown";
}

} // namespace vramscope::report
