// tools/process/live/live_process.cpp — mappings, descriptors and start times as /proc tells them.
#include "tools/process/live/live_process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/findings/process_end.hpp"
#include "report/living_thread.hpp"
#include "report/log/log_file.hpp"
#include "tools/output/messages.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void nothing_there(const std::string& what)
{
    throw report::Error(report::Exit::nothing_observed, what);
}

fs::path folder_of(pid_t pid)
{
    return fs::path("/proc") / std::to_string(pid);
}

fs::path memory_folder_of(pid_t pid)
{
    return folder_of(report::memory_thread(pid));
}

// The pid that a process has for itself: the innermost of its pid namespaces.
std::uint32_t own_pid(pid_t pid)
{
    std::ifstream status(folder_of(pid) / "status");
    std::uint32_t own = static_cast<std::uint32_t>(pid);
    for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("NSpid:"))
            continue;
        std::istringstream numbers(line.substr(6));
        while (numbers >> own) {
        }
    }
    return own;
}

// A mapping that may be a log's header: shared, writable, from the file's beginning.
struct Mapping {
    std::string range; // "7f0000000000-7f0000001000"
    ino_t inode = 0;
    std::string name;
};

struct Maps {
    std::vector<Mapping> candidates;
    bool has_tracer = false;
};

// errno is left as open(2) set it, if nothing can be read.
std::optional<Maps> read_maps(pid_t pid)
{
    errno = 0;
    std::ifstream file(memory_folder_of(pid) / "maps");
    if (!file)
        return std::nullopt;
    Maps maps;
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        Mapping mapping;
        std::string access, offset, device;
        fields >> mapping.range >> access >> offset >> device >> mapping.inode >> std::ws;
        std::getline(fields, mapping.name);
        maps.has_tracer = maps.has_tracer || mapping.name.ends_with("/libvramscope.so");
        if (access == "rw-s" && offset.find_first_not_of('0') == std::string::npos &&
            mapping.inode != 0)
            maps.candidates.push_back(mapping);
    }
    return maps;
}

bool is_regular(const fs::path& path, ino_t inode)
{
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode;
}

// Ways to open the file of a mapping, the surest first. A descriptor leads to the file itself,
// whatever became of its name; of mapped files only root may ask the same.
std::vector<fs::path> doors_to(pid_t pid, const Mapping& mapping)
{
    std::vector<fs::path> doors;
    std::error_code problem;
    for (fs::directory_iterator entry(memory_folder_of(pid) / "fd", problem), end;
         !problem && entry != end; entry.increment(problem))
        if (is_regular(entry->path(), mapping.inode))
            doors.push_back(entry->path());
    for (const fs::path& other :
         {memory_folder_of(pid) / "map_files" / mapping.range, fs::path(mapping.name)})
        if (is_regular(other, mapping.inode))
            doors.push_back(other);
    return doors;
}

// The process has mapped it. Where it has no /proc, as in a chroot, it does not know its start (0).
bool is_log_of(const format::FileHeader& header, pid_t pid, std::uint64_t start)
{
    const bool from_its_time = header.process_start == start || header.process_start == 0;
    return from_its_time && header.pid == own_pid(pid);
}

// A descriptor of ours, and the path through which it can be opened again.
std::pair<std::shared_ptr<const int>, fs::path> hold(const fs::path& door)
{
    const int descriptor = ::open(door.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    std::shared_ptr<const int> held(new int(descriptor), [](const int* closing) {
        ::close(*closing);
        delete closing;
    });
    return {std::move(held), fs::path("/proc/self/fd") / std::to_string(descriptor)};
}

format::FileHeader header_of(const fs::path& log)
{
    return report::LogFile::open(log, report::LogFile::Collected::taken).header();
}

std::optional<LiveProcess> find_log(pid_t pid, std::uint64_t start, const Maps& maps)
{
    for (const Mapping& mapping : maps.candidates)
        for (const fs::path& door : doors_to(pid, mapping)) {
            try {
                const auto [held, own_door] = hold(door);
                if (is_log_of(header_of(own_door), pid, start))
                    return LiveProcess{pid, start, mapping.name, own_door, held};
            } catch (const report::Error&) {
                // some other file that the program has mapped, or it has just ended
            }
        }
    return std::nullopt;
}

} // namespace

LiveProcess find_live_process(pid_t pid)
{
    const std::uint64_t start = report::process_start(static_cast<std::uint32_t>(pid));
    std::error_code ignored;
    if (pid <= 0 || !fs::exists(folder_of(pid), ignored))
        nothing_there(fmt::format("there is no process {}", pid));
    if (start == 0)
        nothing_there(fmt::format("process {} has ended", pid));
    const std::optional<Maps> maps = read_maps(pid);
    if (!maps && (errno == EACCES || errno == EPERM))
        nothing_there(
            fmt::format("not permitted to look into process {}: {}", pid, std::strerror(errno)));
    const std::optional<LiveProcess> found = maps ? find_log(pid, start, *maps) : std::nullopt;
    if (found) {
        detail(fmt::format("the log of process {} is {}", pid, found->name.string()));
        return *found;
    }
    if (report::process_start(static_cast<std::uint32_t>(pid)) != start)
        nothing_there(fmt::format("process {} has ended", pid));
    if (maps && maps->has_tracer)
        nothing_there(fmt::format("process {} runs under vramscope, but has no log yet: it has "
                                  "made no CUDA call that owns memory",
                                  pid));
    nothing_there(fmt::format("process {} does not run under vramscope: start it with `vramscope "
                              "run`",
                              pid));
}

std::vector<pid_t> all_processes()
{
    std::vector<pid_t> pids;
    std::error_code problem;
    for (fs::directory_iterator entry("/proc", problem), end; !problem && entry != end;
         entry.increment(problem)) {
        if (const auto pid = report::whole_number<pid_t>(entry->path().filename().native()))
            pids.push_back(*pid);
    }
    std::sort(pids.begin(), pids.end());
    return pids;
}

// A stream would look up the facets of its locale first, which takes longer than the reading.
std::string text_of(const fs::path& file)
{
    std::string text;
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char part[4096];
    for (ssize_t got; descriptor >= 0 && (got = ::read(descriptor, part, sizeof part)) > 0;)
        text.append(part, static_cast<std::size_t>(got));
    if (descriptor >= 0)
        ::close(descriptor);
    return text;
}

std::vector<LiveProcess> find_live_processes()
{
    std::vector<LiveProcess> found;
    for (const pid_t pid : all_processes()) {
        struct stat status;
        if (::stat(folder_of(pid).c_str(), &status) != 0 || status.st_uid != ::geteuid())
            continue;
        const std::uint64_t start = report::process_start(static_cast<std::uint32_t>(pid));
        const std::optional<Maps> maps = start != 0 ? read_maps(pid) : std::nullopt;
        if (!maps)
            continue;
        if (const std::optional<LiveProcess> live = find_log(pid, start, *maps))
            found.push_back(*live);
    }
    return found;
}

bool is_alive(const LiveProcess& process)
{
    return report::process_is_running(static_cast<std::uint32_t>(process.pid), process.start);
}

int open_log_for_writing(const LiveProcess& process)
{
    const int descriptor = ::open(process.door.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const std::string name = process.name.string();
    if (descriptor < 0)
        nothing_there(fmt::format("cannot write to {}, the log of process {}: {}", name,
                                  process.pid, std::strerror(errno)));
    std::string problem;
    struct stat status;
    format::FileHeader header;
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
        problem = "it is no regular file";
    else if (status.st_uid != ::geteuid())
        problem = "it belongs to another user";
    else if (::pread(descriptor, &header, sizeof header, 0) !=
                 static_cast<ssize_t>(sizeof header) ||
             std::memcmp(header.magic, format::kMagic, sizeof header.magic) != 0 ||
             (header.major != format::kMajorVersion &&
              header.major != format::kCollectedMajorVersion) ||
             header.header_bytes != format::kHeaderBytes ||
             header.chunk_bytes != format::kChunkBytes ||
             !is_log_of(header, process.pid, process.start))
        problem = "it is not a log that this vramscope can write to";
    if (!problem.empty()) {
        ::close(descriptor);
        nothing_there(fmt::format("cannot write to {}, the log of process {}: {}", name,
                                  process.pid, problem));
    }
    return descriptor;
}

} // namespace vramscope
