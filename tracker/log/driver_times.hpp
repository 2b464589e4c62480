// tracker/log/driver_times.hpp — what a thread's calls spend in the driver, summed by entry point.
//
// All calls are counted. A time stamp costs some 25 ns, so where calls are short (kShortTicks) only
// one of about 32 is timed and stands for the others too. The rows are in a page of the thread's
// own; now and then, and when the thread or the process ends, they become records.
// add_driver_time() writes nothing and may run anywhere inside a hook; settle_driver_times() must
// not run between a free's begin and its record.
#pragma once

#include <algorithm>
#include <array>

#include "tracker/log/thread.hpp"

namespace vramscope::log {

struct DriverTimes {
    struct Row {
        std::uint64_t ticks;
        std::uint64_t longest;
        std::uint32_t calls;
        std::uint16_t untimed; // calls that the next timed one stands for
        std::uint16_t wait;    // calls before the next timed one
    };
    static constexpr std::size_t kRows = 160; // further entry points are not timed
    static constexpr std::uint64_t kTimedCalls = 64;
    static constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 24; // some 10 ms of any clock
    static constexpr std::uint64_t kShortTicks = 2048;                  // about 1 us

    std::uint64_t timed;         // calls timed since rows were written
    std::uint64_t written_ticks; // when the rows were last written
    std::array<std::uint64_t, (kRows + 63) / 64> used;
    std::array<Row, kRows> rows;
};
static_assert(sizeof(DriverTimes) <= 4096);

// Null: there is no memory, and nothing is timed.
DriverTimes* make_driver_times(Thread& thread) noexcept;
void forget_driver_times(Thread& thread) noexcept;
void write_driver_times(Thread& thread, std::uint64_t ticks, bool all) noexcept;

// Whether to time the call that is about to be made; if not, it is only counted.
[[gnu::always_inline]] inline bool times_driver_call(Thread& thread, std::uint64_t api) noexcept
{
    DriverTimes* const times = thread.driver_times;
    if (!times || api >= DriverTimes::kRows) [[unlikely]]
        return true;
    DriverTimes::Row& row = times->rows[api];
    if (row.wait == 0)
        return true;
    --row.wait;
    ++row.untimed;
    ++row.calls;
    return false;
}

inline void add_driver_time(Thread& thread, std::uint64_t api, std::uint64_t began,
                            std::uint64_t ended) noexcept
{
    DriverTimes* const times =
        thread.driver_times ? thread.driver_times : make_driver_times(thread);
    if (!times || api >= DriverTimes::kRows) [[unlikely]]
        return;
    const std::uint64_t ticks = ended > began ? ended - began : 0;
    DriverTimes::Row& row = times->rows[api];
    times->used[api / 64] |= std::uint64_t{1} << api % 64;
    row.calls += 1;
    row.ticks += ticks * (row.untimed + 1u);
    row.longest = std::max(row.longest, ticks);
    row.untimed = 0;
    // The wait varies, so that it does not follow the rhythm of a loop.
    row.wait = ticks < DriverTimes::kShortTicks ? static_cast<std::uint16_t>(16 + ended % 32) : 0;
    ++times->timed;
}

// Writes the rows if there is enough in them.
[[gnu::always_inline]] inline void settle_driver_times(Thread& thread, std::uint64_t ticks) noexcept
{
    const DriverTimes* const times = thread.driver_times;
    if (times && (times->timed >= DriverTimes::kTimedCalls ||
                  ticks - times->written_ticks >= DriverTimes::kMostTicks)) [[unlikely]]
        write_driver_times(thread, ticks, false);
}

} // namespace vramscope::log
