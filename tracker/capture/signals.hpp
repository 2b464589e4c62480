// tracker/capture/signals.hpp — no signal handler of the program runs on this thread for a moment.
//
// A handler may leave by siglongjmp, and what the recorder holds at that moment would stay held
// for ever: a lock, the loader's list, a half-made chunk. This is for cold paths: a thread's
// outermost hold costs two system calls, those within it none. Signals that tell of a fault of this
// very thread, and those of the thread library, come through. Nor can the thread be cancelled.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace vramscope::capture {

using SignalMask = std::uint64_t; // the kernel's form: signal n is bit n - 1

// What this thread holds back. The count changes while signals wait, so that a handler never finds
// it ahead of the mask.
struct SignalHold {
    SignalMask mask_before;
    unsigned depth;
};
inline thread_local constinit SignalHold signal_hold{};

// They go past libc, whose functions may be intercepted.
inline void hold_signals() noexcept
{
    if (signal_hold.depth == 0) {
        constexpr int kFirstOfLibrary = 32; // NPTL takes two signals for itself
        SignalMask held = ~SignalMask{0};
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
                                 kFirstOfLibrary, kFirstOfLibrary + 1})
            held &= ~(SignalMask{1} << (number - 1));
        ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held, &signal_hold.mask_before, sizeof held);
    }
    ++signal_hold.depth;
}

inline void release_signals() noexcept
{
    if (--signal_hold.depth == 0)
        ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signal_hold.mask_before, nullptr,
                  sizeof signal_hold.mask_before);
}

// The thread is not cancelled for a moment: a system call may be a cancellation point, as it is for
// the program, and nothing of ours can be unwound. It costs no system call.
class CancellationHeld {
public:
    CancellationHeld() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~CancellationHeld() { ::pthread_setcancelstate(before_, nullptr); }
    CancellationHeld(const CancellationHeld&) = delete;
    CancellationHeld& operator=(const CancellationHeld&) = delete;

private:
    int before_ = 0;
};

class SignalsHeld {
public:
    SignalsHeld() noexcept { hold_signals(); }
    ~SignalsHeld() { release_signals(); }
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

private:
    CancellationHeld cancellation_;
};

// The same around a write. Signals that the write itself raises, for a pipe without a reader or a
// file at its limit, are taken away again.
class WriteSignalsHeld : SignalsHeld {
public:
    WriteSignalsHeld() noexcept
    {
        ::syscall(SYS_rt_sigpending, &pending_before_, sizeof pending_before_);
    }
    ~WriteSignalsHeld()
    {
        const SignalMask raised = kRaisedByWrites & ~pending_before_;
        const timespec now{};
        while (raised &&
               ::syscall(SYS_rt_sigtimedwait, &raised, nullptr, &now, sizeof raised) > 0) {
        }
    }

private:
    static constexpr SignalMask kRaisedByWrites =
        SignalMask{1} << (SIGPIPE - 1) | SignalMask{1} << (SIGXFSZ - 1);

    SignalMask pending_before_ = 0;
};

} // namespace vramscope::capture
