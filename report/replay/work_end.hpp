// report/replay/work_end.hpp — when a program's work was over, and only its end went on.
//
// The end gives back what is left: Python's finalisation, static destructors, a last purge. It
// allocates nothing, but for what that takes: PyTorch makes an event for each pinned block that it
// gives back. So the work ends with the last allocation, also one that was refused for want of
// memory, unless the longest pause behind it is longer than all else there: then the program still
// computed, and its end begins after that.
// A loaded machine makes pauses too, but not one that is longer than all that it interrupts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "report/log/tick_clock.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

class WorkEnd {
public:
    // What is later than `until_ticks` is not read, and not known to come.
    WorkEnd(const format::FileHeader& header, const TickClock& clock,
            std::uint64_t until_ticks = UINT64_MAX) noexcept
        : python_ticks_(header.python_ended_ticks <= until_ticks ? header.python_ended_ticks : 0),
          exit_ticks_(header.exit_began_ticks <= until_ticks ? header.exit_began_ticks : 0),
          start_ticks_(header.start_ticks), pause_ticks_(span(clock, kPauseNs)),
          pythons_pause_ticks_(span(clock, kPythonsPauseNs))
    {
    }

    // Whether it was a part of the work. `memory`: else an object of the driver's.
    bool allocated(std::uint64_t ticks, bool memory) noexcept
    {
        if (is_behind_the_end(ticks, memory)) {
            pass_to(ticks);
            return false;
        }
        last_allocation_ = last_ = ticks;
        search_ticks_ = 0;
        longest_ = {};
        return true;
    }
    void freed(std::uint64_t ticks) noexcept { pass_to(ticks); }
    // The program waits while its memory is searched. If it allocates later, it was not over.
    void searched(std::uint64_t ticks) noexcept
    {
        pass_to(ticks);
        search_ticks_ = ticks;
    }

    // `last_ticks`: of the log's last event.
    std::uint64_t ticks(std::uint64_t last_ticks, bool has_python) const noexcept
    {
        const std::uint64_t known = known_end();
        const std::uint64_t end = known != 0 ? known : last_ticks;
        WorkEnd whole = *this;
        whole.pass_to(end);
        const std::uint64_t before = last_allocation_ - std::min(last_allocation_, start_ticks_);
        const std::uint64_t least =
            has_python ? std::max(pythons_pause_ticks_, before / 2) : pause_ticks_;
        const std::uint64_t pause = whole.longest_.end - whole.longest_.begin;
        const bool computed = pause >= least && pause >= end - last_allocation_ - pause;
        return std::min(computed ? whole.longest_.end : last_allocation_, end);
    }

    auto state() noexcept
    {
        return std::tie(search_ticks_, allocated_after_python_, last_allocation_, last_, longest_);
    } // see report/checkpoint

private:
    static constexpr std::uint64_t kPauseNs = 100'000'000; // shorter ones may be the machine's
    // An interpreter may take seconds before its first free, on a loaded machine many: then all
    // that came before took long too.
    static constexpr std::uint64_t kPythonsPauseNs = 5'000'000'000;
    static constexpr std::uint64_t kFewAllocations = 16;

    struct Pause {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    // Behind the known end (0: there is none) a pause is no matter.
    void pass_to(std::uint64_t ticks) noexcept
    {
        const std::uint64_t end = known_end();
        const std::uint64_t now = end == 0 ? ticks : std::min(ticks, end);
        if (now <= last_)
            return;
        if (now - last_ >= longest_.end - longest_.begin)
            longest_ = {.begin = last_, .end = now};
        last_ = now;
    }

    static std::uint64_t span(const TickClock& clock, std::uint64_t ns) noexcept
    {
        return clock.ticks_at(ns) - clock.start_ticks();
    }

    // A program that goes on without its interpreter has not ended with it.
    bool goes_on_without_python() const noexcept
    {
        return allocated_after_python_ >= kFewAllocations;
    }

    bool is_behind_the_end(std::uint64_t ticks, bool memory) noexcept
    {
        if (exit_ticks_ != 0 && ticks > exit_ticks_)
            return true;
        if (python_ticks_ == 0 || ticks <= python_ticks_)
            return false;
        allocated_after_python_ += memory;
        return !goes_on_without_python();
    }

    std::uint64_t known_end() const noexcept // 0: not known
    {
        const bool by_python = python_ticks_ != 0 && !goes_on_without_python();
        const std::uint64_t end = by_python ? python_ticks_ : exit_ticks_;
        return search_ticks_ != 0 && (end == 0 || search_ticks_ < end) ? search_ticks_ : end;
    }

    std::uint64_t python_ticks_;
    std::uint64_t exit_ticks_;
    std::uint64_t search_ticks_ = 0; // when the memory was searched, behind the last allocation
    std::uint64_t allocated_after_python_ = 0; // memory
    std::uint64_t start_ticks_;
    std::uint64_t pause_ticks_;
    std::uint64_t pythons_pause_ticks_;
    std::uint64_t last_allocation_ = 0;
    std::uint64_t last_ = 0; // the last event
    Pause longest_;          // behind the last allocation
};

} // namespace vramscope::report
