// report/replay/work_end.hpp — when a program's work was over, and only its end went on.
//
// The end gives back what is left: Python's finalisation, static destructors, a last purge. It
// allocates nothing. So the work ends where, behind the last allocation, the frees begin that go on
// up to the end without a pause. An interpreter may take seconds before the first of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/log/tick_clock.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

class WorkEnd {
public:
    WorkEnd(const format::FileHeader& header, const TickClock& clock) noexcept
        : python_ticks_(header.python_ended_ticks),
          exit_ticks_(header.exit_began_ticks), run_{.pause = span(clock, kPauseNs)},
          pythons_run_{.pause = span(clock, kPythonsPauseNs)}
    {
    }

    void allocated(std::uint64_t ticks) noexcept
    {
        run_.begin(ticks);
        pythons_run_.begin(ticks);
        allocated_after_python_ += python_ticks_ != 0 && ticks > python_ticks_;
    }
    void freed(std::uint64_t ticks) noexcept
    {
        const std::uint64_t end = known_end();
        run_.go_on(ticks, end);
        pythons_run_.go_on(ticks, end);
    }

    // `last_ticks`: of the log's last event.
    std::uint64_t ticks(std::uint64_t last_ticks, bool has_python) const noexcept
    {
        const std::uint64_t known = known_end();
        const std::uint64_t end = known != 0 ? known : last_ticks;
        const Run& run = has_python ? pythons_run_ : run_;
        return run.last + run.pause >= end ? std::min(run.first, end) : end;
    }

private:
    static constexpr std::uint64_t kPauseNs = 100'000'000; // shorter ones may be the machine's
    static constexpr std::uint64_t kPythonsPauseNs = 5'000'000'000;
    static constexpr std::uint64_t kFewAllocations = 16;

    // Of the last allocation and the frees behind it, those without a pause up to the last.
    struct Run {
        std::uint64_t pause;
        std::uint64_t first = 0;
        std::uint64_t last = 0;

        void begin(std::uint64_t ticks) noexcept { first = last = ticks; }
        // Behind the known end (0: there is none) a pause is no matter.
        void go_on(std::uint64_t ticks, std::uint64_t end) noexcept
        {
            if ((end == 0 ? ticks : std::min(ticks, end)) > last + pause)
                first = ticks;
            last = std::max(last, ticks);
        }
    };

    static std::uint64_t span(const TickClock& clock, std::uint64_t ns) noexcept
    {
        return clock.ticks_at(ns) - clock.start_ticks();
    }

    // 0: not known. A program that goes on without its interpreter has not ended with it.
    std::uint64_t known_end() const noexcept
    {
        const bool by_python = python_ticks_ != 0 && allocated_after_python_ < kFewAllocations;
        return by_python ? python_ticks_ : exit_ticks_;
    }

    std::uint64_t python_ticks_;
    std::uint64_t exit_ticks_;
    std::uint64_t allocated_after_python_ = 0;
    Run run_;
    Run pythons_run_;
};

} // namespace vramscope::report
