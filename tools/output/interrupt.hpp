// tools/output/interrupt.hpp — signals during a long reading.
//
// The first signal ends the reading with what was read so far; the next one ends the command as if
// nothing had been caught. One object at a time. A user who had a signal ignored keeps that.
#pragma once

#include <csignal>

namespace vramscope {

inline constexpr int kInterruptedStatus = 128 + SIGINT; // as a shell reports SIGINT

class Interrupt {
public:
    // For a command that reads logs: SIGINT is caught for as long as this lives.
    Interrupt();

    // For use after a program has ended: SIGINT, SIGTERM, SIGHUP and SIGQUIT are caught until this
    // process ends. Those in `repeats` have come already, for the program, and often come twice:
    // timeout(1) sends them to us and then to our group, people press Ctrl-C again. One more of
    // each means nothing.
    explicit Interrupt(const sigset_t& repeats);

    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    static bool came() noexcept;

private:
    struct sigaction before_ {};
    bool restores_ = false;
};

} // namespace vramscope
