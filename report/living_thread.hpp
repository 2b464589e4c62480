// report/living_thread.hpp — the thread by which the kernel tells of a process's memory.
#pragma once

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/types.h>
#include <system_error>

namespace vramscope::report {

// As /proc has it: 'R', 'S', …; 'Z' or 'X': it has ended. 0: there is no such thread.
inline char thread_state(pid_t tid)
{
    std::ifstream file("/proc/" + std::to_string(tid) + "/stat");
    const std::string stat{std::istreambuf_iterator<char>(file), {}};
    // The name before it may hold anything: from the last parenthesis on.
    const std::size_t name_end = stat.rfind(')');
    return name_end == std::string::npos || name_end + 2 >= stat.size() ? '\0' : stat[name_end + 2];
}

inline bool thread_runs(pid_t tid)
{
    const char state = thread_state(tid);
    return state != '\0' && state != 'Z' && state != 'X';
}

// The first one; where that has ended while others run on, as after pthread_exit() in main, one of
// these. 0: the process has ended.
inline pid_t living_thread(pid_t pid)
{
    if (thread_runs(pid))
        return pid;
    std::error_code problem;
    const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
    for (std::filesystem::directory_iterator at(tasks, problem), end; !problem && at != end;
         at.increment(problem)) {
        const std::string name = at->path().filename().string();
        pid_t tid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc() &&
            thread_runs(tid))
            return tid;
    }
    return 0;
}

// The one to ask about memory and descriptors, as a first thread that has ended has none; of a
// process that has ended its own number.
inline pid_t memory_thread(pid_t pid)
{
    const pid_t living = living_thread(pid);
    return living != 0 ? living : pid;
}

} // namespace vramscope::report
