// tools/process/traced_process.cpp — fork, exec, wait; signals are taken by sigwaitinfo.
#include "tools/process/traced_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope {
namespace {

// Those that end a program, and that people send to the command they started.
constexpr int kPassedOn[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int kForProgramsAlone[] = {SIGUSR1, SIGUSR2};

sigset_t handled_signals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int number : kPassedOn)
        sigaddset(&set, number);
    sigaddset(&set, SIGCHLD);
    return set;
}

constexpr int kOfFailedWrites[] = {SIGPIPE, SIGXFSZ};
std::vector<struct sigaction> before_survival; // empty: nothing was changed

// What the child writes into the pipe when it does not become the program.
struct StartFailure {
    int exec_error;
    char reason[1020];
};

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::function<std::string()>& prepare, int pipe)
{
    StartFailure failure{};
    const std::string reason = prepare();
    if (reason.empty()) {
        std::vector<char*> arguments;
        arguments.reserve(command.size() + 1);
        for (const std::string& argument : command)
            arguments.push_back(const_cast<char*>(argument.c_str()));
        arguments.push_back(nullptr);
        for (std::size_t i = 0; i < before_survival.size(); ++i)
            ::sigaction(kOfFailedWrites[i], &before_survival[i], nullptr);
        ::execvp(arguments[0], arguments.data());
        failure.exec_error = errno;
    }
    std::strncpy(failure.reason, reason.c_str(), sizeof failure.reason - 1);
    [[maybe_unused]] const ssize_t written = ::write(pipe, &failure, sizeof failure);
    ::_exit(127);
}

// Blocks until exec closed the pipe, or the child said why not.
StartFailure read_failure(int pipe)
{
    StartFailure failure{};
    ssize_t got;
    do
        got = ::read(pipe, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof failure) ? failure : StartFailure{};
}

} // namespace

void survive_failed_writes()
{
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    before_survival.resize(std::size(kOfFailedWrites));
    for (std::size_t i = 0; i < before_survival.size(); ++i)
        ::sigaction(kOfFailedWrites[i], &ignored, &before_survival[i]);
}

TracedProcess::TracedProcess(const std::vector<std::string>& command,
                             const std::function<std::string()>& prepare)
{
    // Blocked rather than ignored: the child could not tell an ignored signal from its
    // user's own wish.
    const sigset_t handled = handled_signals();
    struct sigaction default_action {
    }, child_action{};
    default_action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &default_action, &child_action);
    ::sigprocmask(SIG_BLOCK, &handled, &mask_before_);

    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0 || (pid_ = ::fork()) < 0)
        throw report::Error(report::Exit::usage,
                            fmt::format("cannot start a process: {}", std::strerror(errno)));
    if (pid_ == 0) {
        ::sigaction(SIGCHLD, &child_action, nullptr);
        ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
        become(command, prepare, ends[1]);
    }
    ::close(ends[1]);
    const StartFailure failure = read_failure(ends[0]);
    ::close(ends[0]);
    exec_error_ = failure.exec_error;
    if (failure.reason[0] || exec_error_ != 0)
        ::waitpid(pid_, nullptr, 0);
    if (failure.reason[0])
        throw report::Error(report::Exit::usage, failure.reason);
}

int TracedProcess::wait()
{
    int status = 0;
    ::sigemptyset(&seen_);
    pass_on_signals_until_it_ends(status);
    take_those_that_wait();
    if (WIFSIGNALED(status))
        ::sigaddset(&seen_, WTERMSIG(status));
    return status;
}

void TracedProcess::pass_on_signals_until_it_ends(int& status)
{
    const sigset_t handled = handled_signals();
    for (;;) {
        const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
        if (ended == pid_)
            return;
        if (ended < 0)
            throw report::Error(report::Exit::usage, fmt::format("cannot wait for process {}: {}",
                                                                 pid_, std::strerror(errno)));
        siginfo_t info{};
        const int number = ::sigwaitinfo(&handled, &info);
        if (number > 0)
            ::sigaddset(&seen_, number);
        if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL)
            ::kill(pid_, number);
    }
}

// The Ctrl-C that ended the program waits here for us too.
void TracedProcess::take_those_that_wait()
{
    const sigset_t handled = handled_signals();
    const timespec now{};
    for (int number; (number = ::sigtimedwait(&handled, nullptr, &now)) > 0;)
        ::sigaddset(&seen_, number);
}

void TracedProcess::let_signals_through() const
{
    sigset_t mask = mask_before_;
    for (const int number : kForProgramsAlone)
        ::sigaddset(&mask, number);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

int exit_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

} // namespace vramscope
