// tools/process/traced_process.cpp — clone, exec, wait; signals are taken by sigwaitinfo.
#include "tools/process/traced_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <memory>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope {
namespace {

// The signals that end a program, and that people send to the command they started.
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

struct Disposition {
    int number;
    struct sigaction action;
};
std::vector<Disposition> before_survival; // of the signals that we ignore; each is there once

void survive(int number)
{
    struct sigaction ignored {};
    struct sigaction before {};
    ignored.sa_handler = SIG_IGN;
    ::sigaction(number, &ignored, &before);
    if (std::ranges::none_of(before_survival,
                             [number](const Disposition& one) { return one.number == number; }))
        before_survival.push_back({number, before});
}

// A child on its way to the program, in memory that it shares with us: we go on when it has become
// the program, or has ended.
struct Start {
    std::vector<char*> arguments; // a null pointer is the last one
    const std::function<std::string()>& prepare;
    const sigset_t& mask;
    const struct sigaction& of_children;
    std::string refusal{}; // what prepare returned
    int exec_error = 0;
};

// AddressSanitizer is told that the child goes on, on its stack, and that we do.
#ifdef __SANITIZE_ADDRESS__
void switch_stack(const void* bottom, std::size_t bytes)
{
    __sanitizer_start_switch_fiber(nullptr, bottom, bytes);
}
void stack_was_switched(const void** before, std::size_t* bytes)
{
    __sanitizer_finish_switch_fiber(nullptr, before, bytes);
}
#else
void switch_stack(const void*, std::size_t) {}
void stack_was_switched(const void**, std::size_t*) {}
#endif

// Signals wait until nothing can be left half done in the shared memory.
int become_program(void* argument)
{
    auto& start = *static_cast<Start*>(argument);
    const void* parents_stack = nullptr;
    std::size_t its_bytes = 0;
    stack_was_switched(&parents_stack, &its_bytes);
    start.refusal = start.prepare();
    switch_stack(parents_stack, its_bytes);
    if (!start.refusal.empty())
        return 127;
    ::sigaction(SIGCHLD, &start.of_children, nullptr);
    for (const Disposition& before : before_survival)
        ::sigaction(before.number, &before.action, nullptr);
    ::sigprocmask(SIG_SETMASK, &start.mask, nullptr);
    ::execvp(start.arguments[0], start.arguments.data());
    start.exec_error = errno;
    return 127;
}

// Returns the child's number, or -1. It has a stack of its own, as we go on with ours.
pid_t run_child(Start& start)
{
    constexpr std::size_t kStackBytes = std::size_t{256} << 10;
    const auto stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
    switch_stack(stack.get(), kStackBytes);
    const pid_t child = ::clone(&become_program, stack.get() + kStackBytes,
                                CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
    stack_was_switched(nullptr, nullptr);
    return child;
}

} // namespace

void survive_full_files()
{
    survive(SIGXFSZ);
}

void survive_failed_writes()
{
    survive_full_files();
    survive(SIGPIPE);
}

TracedProcess::TracedProcess(const std::vector<std::string>& command,
                             const std::function<std::string()>& prepare)
{
    // Blocked rather than ignored: the child could not tell an ignored signal from its
    // user's own wish.
    struct sigaction default_action {
    }, of_children{};
    default_action.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &default_action, &of_children);
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &mask_before_);

    Start start{{}, prepare, mask_before_, of_children};
    for (const std::string& argument : command)
        start.arguments.push_back(const_cast<char*>(argument.c_str()));
    start.arguments.push_back(nullptr);
    pid_ = run_child(start);
    const int problem = errno;
    const sigset_t handled = handled_signals();
    sigset_t held;
    ::sigorset(&held, &mask_before_, &handled);
    ::sigprocmask(SIG_SETMASK, &held, nullptr);
    if (pid_ < 0)
        throw report::Error(report::Exit::usage,
                            fmt::format("cannot start a process: {}", std::strerror(problem)));
    exec_error_ = start.exec_error;
    if (!start.refusal.empty() || exec_error_ != 0)
        ::waitpid(pid_, nullptr, 0);
    if (!start.refusal.empty())
        throw report::Error(report::Exit::usage, start.refusal);
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
