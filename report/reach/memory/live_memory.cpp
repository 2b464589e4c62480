// report/reach/memory/live_memory.cpp — LiveMemory on /proc, process_vm_readv and ptrace.
#include "report/reach/memory/live_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/living_thread.hpp"

namespace vramscope::report {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRounds = 30; // of looking for threads that have just begun
constexpr auto kMostPatience = std::chrono::seconds(5); // until a thread has stopped
constexpr std::uint64_t kPageHasMemory = 3ULL << 62;    // present, or swapped out

fs::path process_folder(pid_t pid)
{
    return fs::path("/proc") / std::to_string(pid);
}

[[noreturn]] void refuse_memory(pid_t pid, int problem)
{
    const bool gone = problem == ESRCH;
    throw Error(Exit::nothing_observed,
                gone ? fmt::format("process {} has ended", pid)
                     : fmt::format("the memory of process {} cannot be read: {}; it takes what a "
                                   "debugger is allowed (kernel.yama.ptrace_scope, the same user)",
                                   pid, std::strerror(problem)));
}

std::vector<pid_t> threads_of(pid_t pid)
{
    std::vector<pid_t> tids;
    std::error_code problem;
    for (fs::directory_iterator at(process_folder(pid) / "task", problem), end;
         !problem && at != end; at.increment(problem)) {
        const std::string name = at->path().filename().string();
        pid_t tid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc())
            tids.push_back(tid);
    }
    return tids;
}

// "7f0000000000-7f0000001000 rw-p 00000000 08:01 1234   /path", and lines behind it ("VmFlags: …").
MemoryMapping mapping_of(const std::string& line)
{
    MemoryMapping mapping;
    char access[5] = {};
    int name = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %lu %n", &mapping.begin, &mapping.end,
                    access, &mapping.offset, &mapping.inode, &name) < 5 ||
        mapping.end <= mapping.begin)
        return {};
    mapping.writable = access[0] == 'r' && access[1] == 'w';
    mapping.shared = access[3] == 's';
    mapping.name = line.substr(std::min(line.size(), static_cast<std::size_t>(name)));
    return mapping;
}

bool is_header(const std::string& line)
{
    return !line.empty() && std::string_view("0123456789abcdef").find(line[0]) != line.npos;
}

SeenThread seen_stopped(pid_t tid)
{
    std::vector<std::uint64_t> registers(sizeof(user_regs_struct) / sizeof(std::uint64_t));
    iovec room{registers.data(), registers.size() * sizeof registers[0]};
    if (::ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &room) != 0)
        registers.clear();
    SeenThread thread = thread_with(static_cast<std::uint32_t>(tid), std::move(registers));
    std::array<char, 1024> vectors;
    room = {vectors.data(), vectors.size()};
    if (::ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &room) == 0)
        add_vectors(thread, vectors.data(), room.iov_len);
    return thread;
}

} // namespace

LiveMemory::LiveMemory(pid_t pid, bool stop)
    : pid_(memory_thread(pid)),
      page_map_(::open((process_folder(pid_) / "pagemap").c_str(), O_RDONLY | O_CLOEXEC))
{
    try {
        if (stop)
            this->stop();
        read_mappings();
        if (!stop)
            read_waiting_threads();
    } catch (...) {
        resume();
        throw;
    }
}

LiveMemory::~LiveMemory()
{
    resume();
}

void LiveMemory::expect_alive() const
{
    std::uint64_t first = 0;
    if (!read(mappings_.front().begin, &first, sizeof first))
        refuse_memory(pid_, errno);
}

bool LiveMemory::read(Address from, void* to, std::size_t bytes) const
{
    const iovec here{to, bytes};
    const iovec there{reinterpret_cast<void*>(from), bytes};
    return ::process_vm_readv(pid_, &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

void LiveMemory::find_pages(Address from, std::size_t count, std::vector<char>& there) const
{
    std::vector<std::uint64_t> entries(count);
    const auto got = ::pread(page_map_, entries.data(), count * sizeof entries[0],
                             static_cast<off_t>(from / kPageBytes * sizeof entries[0]));
    there.assign(count, 1); // as far as is known
    for (std::size_t at = 0; got > 0 && at < static_cast<std::size_t>(got) / sizeof entries[0];
         ++at)
        there[at] = (entries[at] & kPageHasMemory) != 0;
}

// What is ours is known by two pieces of advice that nobody else gives together.
void LiveMemory::read_mappings()
{
    std::ifstream file(process_folder(pid_) / "smaps");
    for (std::string line; std::getline(file, line);) {
        if (is_header(line)) {
            mappings_.push_back(mapping_of(line));
        } else if (line.starts_with("VmFlags:") && !mappings_.empty()) {
            MemoryMapping& last = mappings_.back();
            last.own = last.inode == 0 && !last.shared && line.find(" dd") != line.npos &&
                       line.find(" rr") != line.npos;
        }
    }
    std::erase_if(mappings_, [](const MemoryMapping& mapping) { return mapping.end == 0; });
    std::uint64_t first = 0;
    if (mappings_.empty() || !read(mappings_.front().begin, &first, sizeof first))
        refuse_memory(pid_, mappings_.empty() ? ESRCH : errno);
    for (MemoryMapping& mapping : mappings_)
        if (mapping.name.starts_with('/'))
            mapping.file = file_of(mapping);
}

// In a container its name is as the process sees it. Where it was replaced or lies in a mount of
// its own, the kernel has it for those who may ask. Of a process in a chroot it is as we see it.
fs::path LiveMemory::file_of(const MemoryMapping& mapping) const
{
    const fs::path folder = process_folder(pid_);
    for (const fs::path& file :
         {folder / "root" / mapping.name.substr(1),
          folder / "map_files" / fmt::format("{:x}-{:x}", mapping.begin, mapping.end),
          fs::path(mapping.name)}) {
        struct stat status {};
        if (::stat(file.c_str(), &status) == 0 && status.st_ino == mapping.inode)
            return file;
    }
    return {};
}

// A thread that waits in the kernel tells where its stack ends: "202 0x… … 0x7ff… 0x7f…".
void LiveMemory::read_waiting_threads()
{
    for (const pid_t tid : threads_of(pid_)) {
        SeenThread thread{static_cast<std::uint32_t>(tid), 0, 0, {}};
        std::ifstream file(process_folder(pid_) / "task" / std::to_string(tid) / "syscall");
        std::vector<std::string> words{std::istream_iterator<std::string>(file), {}};
        if (words.size() >= 3) // the last but one
            thread.stack_pointer = std::strtoull(words[words.size() - 2].c_str(), nullptr, 16);
        threads_.push_back(std::move(thread));
    }
}

bool LiveMemory::wait_for_stop(pid_t tid, int& signal) const
{
    const auto end = std::chrono::steady_clock::now() + kMostPatience;
    for (int status = 0; std::chrono::steady_clock::now() < end;) {
        const pid_t got = ::waitpid(tid, &status, __WALL | WNOHANG);
        if (got < 0 || (got == tid && !WIFSTOPPED(status)))
            return false; // it has ended
        if (got == tid) {
            signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
            return true;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    throw Error(Exit::nothing_observed,
                fmt::format("thread {} of process {} does not stop: try again, or without --stop",
                            tid, pid_));
}

bool LiveMemory::stop_new_threads()
{
    bool any = false;
    for (const pid_t tid : threads_of(pid_)) {
        const auto same = [tid](const Stopped& known) { return known.tid == tid; };
        if (std::any_of(stopped_threads_.begin(), stopped_threads_.end(), same))
            continue;
        if (::ptrace(PTRACE_SEIZE, tid, 0, 0) != 0) {
            if (errno == ESRCH || !thread_runs(tid))
                continue; // it has ended meanwhile
            refuse_memory(pid_, errno);
        }
        stopped_threads_.push_back({tid, 0});
        int signal = 0;
        if (::ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && wait_for_stop(tid, signal)) {
            stopped_threads_.back().signal = signal;
            threads_.push_back(seen_stopped(tid));
            any = true;
        }
    }
    return any;
}

void LiveMemory::stop()
{
    for (int round = 0; round < kMostRounds && stop_new_threads(); ++round) {
    }
    if (threads_.empty())
        refuse_memory(pid_, ESRCH);
    stopped_ = true;
}

void LiveMemory::resume() noexcept
{
    for (const Stopped& thread : stopped_threads_)
        ::ptrace(PTRACE_DETACH, thread.tid, 0, thread.signal);
    stopped_threads_.clear();
    if (page_map_ >= 0)
        ::close(page_map_);
    page_map_ = -1;
}

} // namespace vramscope::report
