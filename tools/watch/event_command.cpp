// tools/watch/event_command.cpp — spawn, and wait.
#include "tools/watch/event_command.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/output/messages.hpp"

namespace vramscope {
namespace {

constexpr const char* kSnapshot = "VRAMSCOPE_SNAPSHOT=";

// What happened, and ours.
std::vector<std::string> environment_for(const CommandCall& call)
{
    std::vector<std::string> variables;
    variables.push_back("VRAMSCOPE_EVENT=" + call.event);
    variables.push_back(fmt::format("VRAMSCOPE_EVENT_PID={}", call.pid));
    variables.push_back("VRAMSCOPE_EVENT_TEXT=" + call.text);
    if (!call.snapshot.empty())
        variables.push_back(kSnapshot + call.snapshot);
    for (char** variable = environ; *variable; ++variable) // of two with a name the first counts
        if (!std::string_view(*variable).starts_with(kSnapshot))
            variables.emplace_back(*variable);
    return variables;
}

// How it begins: with nothing on its stdin, its stdout where our stderr goes, and the signals as a
// program expects them, that we ignore.
class Beginning {
public:
    Beginning()
    {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        ::posix_spawnattr_init(&attributes);
        sigset_t signals;
        ::sigfillset(&signals);
        ::posix_spawnattr_setsigdefault(&attributes, &signals);
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes, &signals);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    }
    ~Beginning()
    {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;

    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

} // namespace

void EventCommand::call(CommandCall call)
{
    if (waiting_.size() == kMostWaiting) {
        warn(fmt::format("--on: {} is not told of: {} runs too long", call.event, command_));
        return;
    }
    waiting_.push_back(std::move(call));
    look();
}

void EventCommand::look()
{
    int status = 0;
    if (running_ > 0 && ::waitpid(running_, &status, WNOHANG) == running_)
        note_end(status);
    while (running_ < 0 && !waiting_.empty())
        begin_next();
}

void EventCommand::finish(std::chrono::seconds most)
{
    const auto end = std::chrono::steady_clock::now() + most;
    for (look(); running_ > 0; look()) {
        if (std::chrono::steady_clock::now() > end) {
            warn(fmt::format("--on: {} still runs, and is left to itself", command_));
            return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

void EventCommand::begin_next()
{
    const CommandCall call = std::move(waiting_.front());
    waiting_.pop_front();
    std::vector<std::string> variables = environment_for(call);
    std::vector<char*> environment;
    for (std::string& variable : variables)
        environment.push_back(variable.data());
    environment.push_back(nullptr);
    char* const arguments[] = {command_.data(), nullptr};
    const Beginning beginning;
    pid_t pid = -1;
    const int problem = ::posix_spawnp(&pid, command_.c_str(), &beginning.actions,
                                       &beginning.attributes, arguments, environment.data());
    if (problem != 0)
        warn(fmt::format("--on: {} cannot be run: {}", command_, std::strerror(problem)));
    else
        running_ = pid;
}

void EventCommand::note_end(int wait_status)
{
    running_ = -1;
    if (WIFSIGNALED(wait_status))
        warn(fmt::format("--on: {} was ended by signal {}", command_, WTERMSIG(wait_status)));
    else if (WEXITSTATUS(wait_status) != 0)
        warn(fmt::format("--on: {} ended with {}", command_, WEXITSTATUS(wait_status)));
}

} // namespace vramscope
