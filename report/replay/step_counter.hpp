// report/replay/step_counter.hpp — how often something had happened by when.
//
// At most kMostPoints of the moments are kept, evenly over the count; others are interpolated.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace vramscope::report {

class StepCounter {
public:
    // A time that is earlier than the one before counts as that one.
    void begin(std::uint64_t ticks) noexcept
    {
        if (!begun_)
            begin_ticks_ = last_ticks_ = ticks;
        begun_ = true;
    }
    void add(std::uint64_t ticks)
    {
        begin(ticks);
        last_ticks_ = std::max(last_ticks_, ticks);
        if ((++count_ & (stride_ - 1)) != 0)
            return;
        points_.push_back(last_ticks_);
        if (points_.size() == kMostPoints)
            thin();
    }

    std::uint64_t count() const noexcept { return count_; }
    std::uint64_t begin_ticks() const noexcept { return begin_ticks_; }
    std::uint64_t last_ticks() const noexcept { return last_ticks_; }

    // Includes the part of a step that was under way.
    double at(std::uint64_t ticks) const noexcept
    {
        if (ticks >= last_ticks_)
            return static_cast<double>(count_);
        if (ticks < begin_ticks_)
            return 0;
        const auto next = std::upper_bound(points_.begin(), points_.end(), ticks);
        const auto passed = static_cast<std::uint64_t>(next - points_.begin());
        const std::uint64_t from = passed == 0 ? begin_ticks_ : *(next - 1);
        const std::uint64_t to = next == points_.end() ? last_ticks_ : *next;
        const std::uint64_t count_from = passed * stride_;
        const std::uint64_t count_to = next == points_.end() ? count_ : count_from + stride_;
        const double part = static_cast<double>(ticks - from) / static_cast<double>(to - from);
        return static_cast<double>(count_from) + part * static_cast<double>(count_to - count_from);
    }

    auto state() noexcept
    {
        return std::tie(points_, stride_, count_, begin_ticks_, last_ticks_, begun_);
    } // see report/checkpoint
    bool rebuild() const noexcept
    {
        return std::has_single_bit(stride_) && points_.size() < kMostPoints &&
               std::is_sorted(points_.begin(), points_.end());
    }

private:
    static constexpr std::size_t kMostPoints = 256;

    void thin()
    {
        for (std::size_t at = 0; 2 * at + 1 < points_.size(); ++at)
            points_[at] = points_[2 * at + 1];
        points_.resize(points_.size() / 2);
        stride_ *= 2;
    }

    std::vector<std::uint64_t> points_;
    std::uint64_t stride_ = 1; // a power of two
    std::uint64_t count_ = 0;
    std::uint64_t begin_ticks_ = 0;
    std::uint64_t last_ticks_ = 0;
    bool begun_ = false;
};

} // namespace vramscope::report
