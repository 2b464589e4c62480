// tools/process/live/left_running.cpp — a look at what is new, then one through all of /proc.
#include "tools/process/live/left_running.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "tools/process/live/live_process.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {
namespace fs = std::filesystem;
namespace {

// From the start of an exec until the loader has mapped our library, at most.
constexpr auto kBetweenTwoPrograms = std::chrono::milliseconds(20);

bool announced(const std::vector<Announcement>& announcements, pid_t pid, std::string_view kind)
{
    return std::any_of(announcements.begin(), announcements.end(), [&](const Announcement& entry) {
        return entry.pid == pid && (kind.empty() || entry.kind == kind);
    });
}

// The number that a process or thread got last; 0: unknown.
pid_t newest_number()
{
    const std::string load = text_of("/proc/loadavg"); // "0.20 0.18 0.12 1/80 11206\n"
    pid_t newest = 0;
    std::from_chars(load.data() + load.rfind(' ') + 1, load.data() + load.size(), newest);
    return newest;
}

// Whether /proc shows processes by the numbers that they have for us: it may be a container's.
bool proc_has_our_numbers()
{
    std::error_code problem;
    return fs::read_symlink("/proc/self", problem) == std::to_string(::getpid());
}

// Whether the process is of this run. An environment is not seen of another user's process, nor of
// one that is just between two programs: then the answer is `unseen`.
bool is_of(const fs::path& run_file, const std::vector<Announcement>& announcements, pid_t pid,
           bool unseen)
{
    const std::string folder = fmt::format("/proc/{}", pid);
    if (::access(folder.c_str(), F_OK) != 0)
        return false;
    if (announced(announcements, pid, {}))
        return true;
    const std::string environment = text_of(folder + "/environ");
    return environment.empty() ? unseen : environment.find(run_file.string()) != environment.npos;
}

// Numbers are given in turn: what was started since the program is between it and the newest one,
// unless they began anew, for which ten thousands must have been given. False where it would take
// longer to know.
bool none_was_left(const EndedProgram& program, const fs::path& run_file,
                   const std::vector<Announcement>& announcements)
{
    constexpr auto kTooEarlyToBeginAnew = std::chrono::milliseconds(50);
    constexpr pid_t kFew = 32;
    pid_t newest = newest_number();
    if (newest < program.pid || !proc_has_our_numbers())
        return false;
    for (pid_t number = program.pid; number <= newest; ++number) {
        if (newest - program.pid > kFew || is_of(run_file, announcements, number, true))
            return false;
        if (number == newest)
            newest = newest_number(); // one of them may have started another meanwhile
    }
    return std::chrono::steady_clock::now() - program.started < kTooEarlyToBeginAnew;
}

// What a process of this run has mapped, if our library is among it; else empty. A process that was
// started after the program is looked at again, up to `until`, while it shows neither an
// environment nor our library: it may be just between two programs.
std::string maps_if_traced(const EndedProgram& program, const fs::path& run_file,
                           const std::vector<Announcement>& announcements, pid_t pid,
                           std::chrono::steady_clock::time_point until)
{
    const bool is_new = pid > program.pid;
    while (is_of(run_file, announcements, pid, is_new)) {
        std::string maps = text_of(fmt::format("/proc/{}/maps", pid));
        if (maps.find("/libvramscope.so") != std::string::npos)
            return maps;
        if (!is_new || std::chrono::steady_clock::now() >= until)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
}

} // namespace

std::vector<RunningProcess> left_running(const EndedProgram& program, const fs::path& run_file,
                                         const std::vector<Announcement>& announcements)
{
    std::vector<RunningProcess> found;
    if (none_was_left(program, run_file, announcements))
        return found;
    const auto until = std::chrono::steady_clock::now() + kBetweenTwoPrograms;
    for (const pid_t pid : all_processes()) {
        const std::string maps = maps_if_traced(program, run_file, announcements, pid, until);
        if (maps.empty())
            continue;
        const auto maps_library = [&maps](const char* name) {
            return maps.find(name) != std::string::npos;
        };
        const fs::path folder = fs::path("/proc") / std::to_string(pid);
        std::string name = text_of(folder / "comm");
        name.erase(name.find_last_not_of('\n') + 1);
        const bool may_use_cuda = announced(announcements, pid, "log") ||
                                  maps_library("/libcuda.so") || maps_library("/libcudart.so") ||
                                  has_own_runtime(inspect_program(folder / "exe"));
        found.push_back({pid, name, may_use_cuda});
    }
    return found;
}

std::vector<std::string> doubts_of(const std::vector<RunningProcess>& running, bool nothing_seen)
{
    std::vector<std::string> lines;
    for (const RunningProcess& process : running)
        if (nothing_seen || process.may_use_cuda)
            lines.push_back(fmt::format(
                "process {} ({}) still runs and is traced: `vramscope snapshot {}` shows what it "
                "holds, and `vramscope report` of its log the whole, once it has ended",
                process.pid, process.program, process.pid));
    return lines;
}

} // namespace vramscope
