// tools/interrupt.hpp — Ctrl-C during a long reading: the first one ends it with what was read so
// far, the second one ends the command as if nothing had been caught.
//
// One object at a time. While it lives SIGINT is caught; a user who had it ignored keeps that.
#pragma once

#include <csignal>

namespace vramscope {

inline constexpr int kInterruptedStatus = 128 + SIGINT; // as of a command that SIGINT ended

class Interrupt {
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;

    static bool came() noexcept;

private:
    struct sigaction before_ {};
};

} // namespace vramscope
