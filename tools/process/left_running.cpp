// tools/process/left_running.cpp — one look through /proc.
#include "tools/process/left_running.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "tools/process/live_process.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {
namespace fs = std::filesystem;
namespace {

std::string text_of(const fs::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

bool announced(const std::vector<Announcement>& announcements, pid_t pid, std::string_view kind)
{
    return std::any_of(announcements.begin(), announcements.end(), [&](const Announcement& entry) {
        return entry.pid == pid && (kind.empty() || entry.kind == kind);
    });
}

} // namespace

std::vector<RunningProcess> left_running(const fs::path& run_file,
                                         const std::vector<Announcement>& announcements)
{
    std::vector<RunningProcess> found;
    for (const pid_t pid : all_processes()) {
        const fs::path folder = fs::path("/proc") / std::to_string(pid);
        if (text_of(folder / "environ").find(run_file.string()) == std::string::npos &&
            !announced(announcements, pid, {}))
            continue;
        const std::string maps = text_of(folder / "maps"); // empty: it has ended, or is not ours
        const auto maps_library = [&maps](const char* name) {
            return maps.find(name) != std::string::npos;
        };
        if (!maps_library("/libvramscope.so"))
            continue;
        std::string program = text_of(folder / "comm");
        program.erase(program.find_last_not_of('\n') + 1);
        const bool may_use_cuda = announced(announcements, pid, "log") ||
                                  maps_library("/libcuda.so") || maps_library("/libcudart.so") ||
                                  inspect_program(folder / "exe").own_runtime;
        found.push_back({pid, program, may_use_cuda});
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
