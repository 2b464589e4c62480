// tracker/capture/clock.hpp — the time of an event, which also orders all events.
//
// An invariant time stamp counter is the same on every core and costs no shared cache line; where
// the kernel itself does not trust it, CLOCK_MONOTONIC serves (its ticks are ns). Both are safe in
// signal handlers and after fork.
#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "tracker/format/layout.hpp"

namespace vramscope::capture {

std::uint64_t clock_ns(clockid_t clock) noexcept;

// Which clock this machine can order events by. It reads a file of sysfs: call it once.
format::Clock choose_clock() noexcept;

// The fence keeps the counter from being read before the driver call that it is to follow.
[[gnu::always_inline]] inline std::uint64_t read_ticks(format::Clock clock) noexcept
{
#if defined(__x86_64__)
    if (clock == format::Clock::tsc) [[likely]] {
        _mm_lfence();
        return __rdtsc();
    }
#else
    (void)clock;
#endif
    return clock_ns(CLOCK_MONOTONIC);
}

} // namespace vramscope::capture
