// tools/commands/search_memory.cpp — one search; and the process that waits for programs to end.
#include "tools/commands/search_memory.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/tick_clock.hpp"
#include "report/reach/memory/core_memory.hpp"
#include "report/reach/memory/live_memory.hpp"
#include "tools/output/messages.hpp"
#include "tools/process/signals.hpp"
#include "tracker/capture/clock.hpp"
#include "tracker/environment/ending.hpp"
#include "tracker/log/outside_mark.hpp"

namespace vramscope {
namespace {

using report::LogFile;

constexpr unsigned kMostSeconds = 9; // the program goes on after ten

// Of a process that has no log, as a shell, there is nothing to say.
std::optional<LiveProcess> traced(pid_t pid)
{
    try {
        return find_live_process(pid);
    } catch (const report::Error& error) {
        detail(error.what());
        return std::nullopt;
    }
}

void search_at_end(pid_t pid, log::Ending ending)
{
    const std::optional<LiveProcess> process = traced(pid);
    if (!process)
        return;
    if (ending == log::Ending::interpreter_gone) {
        warn(fmt::format("--reach: Python of process {} took its variables down before they could "
                         "be searched (python3 -I, -S or -E)",
                         pid));
        return;
    }
    try {
        note_search(*process, true);
    } catch (const std::exception& error) {
        warn(fmt::format("--reach: {}", error.what()));
    }
}

// In a process of its own, that the kernel ends if it takes too long: then the program's threads
// go on too.
void search_and_watch(int connection)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    char word = 0;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
        ::recv(connection, &word, 1, 0) != 1)
        return;
    const pid_t searcher = ::fork();
    if (searcher == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::signal(SIGALRM, SIG_DFL);
        ::alarm(kMostSeconds);
        search_at_end(peer.pid, static_cast<log::Ending>(word));
        ::_exit(0);
    }
    int status = 0;
    if (searcher < 0 || ::waitpid(searcher, &status, 0) != searcher)
        warn(fmt::format("--reach: process {} could not be searched: {}", peer.pid,
                         std::strerror(errno)));
    else if (WIFSIGNALED(status))
        warn(fmt::format("--reach: the search of process {} was ended by {}", peer.pid,
                         WTERMSIG(status) == SIGALRM
                             ? fmt::format("its limit of {} s", kMostSeconds)
                             : fmt::format("signal {}", WTERMSIG(status))));
}

// What a terminal sends is for the program; we end with the command that started us.
[[noreturn]] void serve(int listening)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ignore_what_is_for_the_program();
    ::signal(SIGCHLD, SIG_IGN);
    for (;;) {
        const int connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0 && errno != EINTR && errno != ECONNABORTED)
            ::_exit(1);
        if (connection < 0)
            continue;
        if (::fork() == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::signal(SIGCHLD, SIG_DFL);
            ::close(listening);
            search_and_watch(connection);
            ::_exit(0);
        }
        ::close(connection);
    }
}

// The peer that the program sees is the process that listens.
int listen_at(const std::string& path)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listening >= 0 &&
        (path.size() >= sizeof address.sun_path ||
         ::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)) {
        ::close(listening);
        return -1;
    }
    return listening;
}

} // namespace

// The log is read once the threads stand still: what it says is of that moment then.
MemorySearched search_memory(const LiveProcess& process, bool stop,
                             report::CheckpointStore* checkpoints)
{
    const report::LiveMemory memory(process.pid, stop);
    const LogFile log = LogFile::open(process.door, LogFile::Collected::taken);
    const std::uint64_t ticks = capture::read_ticks(log.header().clock);
    MemorySearched search{
        ticks, report::FoundReach(log, memory, process.name.string(), ticks, checkpoints)};
    memory.expect_alive();
    return search;
}

// What was allocated after the core would be called lost, so its moment must be known.
report::FoundReach search_core(const std::filesystem::path& core, const std::filesystem::path& path,
                               report::CheckpointStore* checkpoints)
{
    const report::CoreMemory memory(core);
    const LogFile log = LogFile::open(path, LogFile::Collected::taken);
    const format::FileHeader& header = log.header();
    const auto refuse = [&](const std::string& why) {
        throw report::Error(report::Exit::bad_input, fmt::format("{}: {}", core.string(), why));
    };
    if (memory.pid() != 0 && memory.pid() != header.pid)
        refuse(fmt::format("is of process {}, and {} is of process {}", memory.pid(), path.string(),
                           header.pid));
    if (memory.written_ns() < header.start_real_ns)
        refuse(fmt::format("was written before {} was begun", path.string()));
    const report::TickClock clock(header);
    const std::uint64_t ticks = clock.ticks_at(memory.written_ns() - header.start_real_ns);
    if (header.end != format::End::unknown && header.latest_ticks < ticks)
        refuse(fmt::format("was written after its process had ended by itself: of a copy (cp -p "
                           "keeps the time) it is not known how much of {} came before",
                           path.string()));
    return report::FoundReach(log, memory, std::filesystem::absolute(path).string(), ticks,
                              checkpoints);
}

bool write_search(int descriptor, const MemorySearched& search) noexcept
{
    return log::append_search(descriptor, search.ticks, search.found.searched(),
                              search.found.reached());
}

void note_search(const LiveProcess& process, bool stop)
{
    const MemorySearched search = search_memory(process, stop, nullptr);
    const int descriptor = open_log_for_writing(process);
    const bool written = write_search(descriptor, search);
    const int problem = errno;
    ::close(descriptor);
    if (!written)
        throw report::Error(report::Exit::nothing_observed,
                            fmt::format("what the search found cannot be written to {}: {}",
                                        process.name.string(), std::strerror(problem)));
}

SearchesAtEnd::SearchesAtEnd()
{
    const char* const wanted = std::getenv("TMPDIR");
    folder_ = std::string(wanted && *wanted ? wanted : "/tmp") + "/vramscope-end-XXXXXX";
    const bool made = ::mkdtemp(folder_.data()) != nullptr; // mode 0700
    path_ = folder_ + "/socket";
    const int listening = made ? listen_at(path_) : -1;
    const int problem = errno;
    if (listening >= 0)
        server_ = ::fork();
    if (server_ == 0) {
        if (::listen(listening, SOMAXCONN) != 0)
            ::_exit(1);
        serve(listening);
    }
    if (listening >= 0)
        ::close(listening);
    if (server_ > 0)
        return;
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
    throw report::Error(report::Exit::usage,
                        fmt::format("--reach: no socket at {}: {}; set TMPDIR to another folder",
                                    path_, std::strerror(problem)));
}

SearchesAtEnd::~SearchesAtEnd()
{
    ::kill(server_, SIGKILL);
    ::waitpid(server_, nullptr, 0);
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
}

} // namespace vramscope
