// tools/process/traced_process.hpp — starts a program as if its user had, and waits for it.
//
// The child gets our stdin, stdout and stderr, our signal mask and dispositions. A signal that
// someone sends to us is passed on; one from the terminal has reached the program already, and
// is only survived.
#pragma once

#include <csignal>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace vramscope {

// From here on a write beyond the limit of a file's size is an error and not our end. A program
// that is started later gets the disposition from before.
void survive_full_files();
// The same, and of a write to a pipe without a reader.
void survive_failed_writes();

class TracedProcess {
public:
    // `prepare` runs in the child before exec, where getpid() is the program's. Its memory is ours,
    // and so is the environment that it changes, but not what it does to signals and descriptors.
    // What it returns, unless empty, is a reason not to start. Throws Error (125) then, and when
    // there can be no child. What it throws ends us.
    TracedProcess(const std::vector<std::string>& command,
                  const std::function<std::string()>& prepare);

    pid_t pid() const { return pid_; }
    // 0, or why exec failed: ENOENT, EACCES, ...
    int exec_error() const { return exec_error_; }

    // Returns the status as waitpid(2) gives it. Call it once, after a start that did not fail.
    // Signals stay held back after it, until let_signals_through().
    int wait();

    // The signals that came while it ran, or that ended it. They were meant for the program.
    const sigset_t& signals_seen() const { return seen_; }

    // Keeps back those that only the program has a use for.
    void let_signals_through() const;

private:
    void pass_on_signals_until_it_ends(int& status);
    void take_those_that_wait();

    sigset_t mask_before_;
    sigset_t seen_;
    pid_t pid_ = -1;
    int exec_error_ = 0;
};

// The status that a shell would give for it: its own, or 128 + signal.
int exit_status_of(int wait_status);

} // namespace vramscope
