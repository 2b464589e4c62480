// report/findings/process_end.cpp — the header's own word, overruled by what the parent saw.
#include "report/findings/process_end.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>

#include "report/living_thread.hpp"

namespace vramscope::report {

namespace {

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
    std::getline(in, stat, '\0'); // a name may have more lines
    // Field 2 is the name in parentheses and may hold anything: count from the last parenthesis.
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
    const bool has_ended = state == "Z" || state == "X"; // its first thread, at least
    return fields && (!has_ended || living_thread(static_cast<pid_t>(pid)) != 0) ? start : 0;
}

bool process_is_running(std::uint32_t pid, std::uint64_t start_time)
{
    return pid != 0 && start_time != 0 && process_start(pid) == start_time;
}

bool is_running(const format::FileHeader& header)
{
    return header.snapshot_ticks != 0 || process_is_running(header.pid, header.process_start);
}

} // namespace vramscope::report
