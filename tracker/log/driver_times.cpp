// tracker/log/driver_times.cpp — the page of a thread, and its rows as records.
#include "tracker/log/driver_times.hpp"

#include <bit>
#include <sys/mman.h>

#include "tracker/log/chunk_writer.hpp"

namespace vramscope::log {

namespace {

void write_row(Thread& thread, std::uint64_t ticks, std::uint64_t api,
               DriverTimes::Row& row) noexcept
{
    if (row.calls == 0)
        return;
    write(thread, {ticks}, format::DriverTime{api, row.calls, row.ticks, row.longest});
    row.calls = 0;
    row.ticks = 0;
    row.longest = 0;
}

} // namespace

[[gnu::noinline, gnu::cold]] DriverTimes* make_driver_times(Thread& thread) noexcept
{
    thread.driver_times = static_cast<DriverTimes*>(capture::map_pages(sizeof(DriverTimes)));
    if (thread.driver_times)
        thread.driver_times->written_ticks = now();
    return thread.driver_times;
}

void forget_driver_times(Thread& thread) noexcept
{
    if (thread.driver_times)
        ::munmap(thread.driver_times, sizeof(DriverTimes));
    thread.driver_times = nullptr;
}

[[gnu::noinline]] void write_driver_times(Thread& thread, std::uint64_t ticks, bool all) noexcept
{
    DriverTimes* const times = thread.driver_times;
    if (!times)
        return;
    for (std::size_t word = 0; word < times->used.size(); ++word)
        for (std::uint64_t left = all ? ~std::uint64_t{0} : times->used[word]; left;
             left &= left - 1) {
            const std::size_t api = word * 64 + static_cast<std::size_t>(std::countr_zero(left));
            if (api < DriverTimes::kRows)
                write_row(thread, ticks, api, times->rows[api]);
        }
    times->used = {};
    times->timed = 0;
    times->written_ticks = ticks;
}

} // namespace vramscope::log
