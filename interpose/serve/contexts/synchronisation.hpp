// interpose/serve/contexts/synchronisation.hpp — when freed memory may be used again.
//
// Memory may be used again when every context of the process was synchronised since its free. It
// takes every context, not that of the memory alone: with unified addresses a stream of any context
// may copy from it, peer access or not. The program's own synchronisations of contexts count;
// streams' and events' do not, as streams may be unknown to us. Any thread; no lock is held while
// the driver waits.
#pragma once

#include "interpose/hooks/hook.hpp"
#include "interpose/pool/epochs.hpp"

namespace vramscope::hooks {

class Driver;

pool::Epochs& epochs() noexcept;

// A context that is known: its queued work may use memory until it is synchronised.
void context_seen(CUcontext context) noexcept;
void context_unseen(CUcontext context) noexcept;

// A synchronisation by the program, from before its call.
struct Synchronisation {
    std::uint64_t epoch = 0; // 0: nothing waits for it
    std::uint64_t ticks = 0;
    CUcontext context = nullptr;
};
Synchronisation synchronisation_begins(CUcontext context) noexcept;
void synchronisation_ended(log::Thread& thread, const Synchronisation& synchronisation) noexcept;

// Waits for all that is queued in every context. An error is that of the current context.
// Nothing is done, and freed memory stays unusable, while a stream is captured or a context
// is being destroyed.
CUresult synchronise_all(log::Thread& thread) noexcept;

// By the system call itself, as libc's ends a thread that is to be cancelled.
void sleep_ns(long ns) noexcept;

// While it is held, no synchronisation of ours runs. It waits until those that run have ended,
// or some seconds.
void hold_synchronisations() noexcept;
void readmit_synchronisations() noexcept;
bool synchronisations_held() noexcept;

// Held from engage() on, while a call may destroy a context.
class SynchronisationsHeld {
public:
    SynchronisationsHeld() = default;
    ~SynchronisationsHeld()
    {
        if (engaged_)
            readmit_synchronisations();
    }
    SynchronisationsHeld(const SynchronisationsHeld&) = delete;
    SynchronisationsHeld& operator=(const SynchronisationsHeld&) = delete;
    void engage() noexcept
    {
        hold_synchronisations();
        engaged_ = true;
    }

private:
    bool engaged_ = false;
};

// To be called in the child of a fork: what is known is the parent's.
void forget_synchronisations() noexcept;

} // namespace vramscope::hooks
