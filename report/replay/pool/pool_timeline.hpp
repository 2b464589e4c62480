// report/replay/pool/pool_timeline.hpp — memory over time, in a bounded number of points.
//
// A point is a span of time. When there are too many, two become one: each keeps its last values,
// its peaks and its least, so no peak is lost, only its exact moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "report/model/memory/waterfall.hpp"

namespace vramscope::report {

struct PoolPoint : MemorySpan {
    std::uint64_t ticks = 0; // where the span begins

    auto state() noexcept
    {
        return std::tie(allocated, active, reserved, peak_allocated, peak_reserved, least_allocated,
                        used, ticks);
    }
};

class PoolTimeline {
public:
    static constexpr std::size_t kMostPoints = 4096;

    // Times that step back count for the last point.
    void add(std::uint64_t ticks, std::uint64_t allocated, std::uint64_t active,
             std::uint64_t reserved)
    {
        PoolPoint& point = point_at(ticks);
        point.allocated = allocated;
        point.active = active;
        point.reserved = reserved;
        point.peak_allocated = std::max(point.peak_allocated, allocated);
        point.peak_reserved = std::max(point.peak_reserved, reserved);
        point.least_allocated = std::min(point.least_allocated, allocated);
    }

    void add_used(std::uint64_t ticks, std::uint64_t used) { point_at(ticks).used = used; }

    const std::vector<PoolPoint>& points() const noexcept { return points_; }

    // The same as it would be if only so many points could be kept.
    std::vector<PoolPoint> points(std::size_t most) const
    {
        PoolTimeline coarse = *this;
        while (!points_.empty() && coarse.span_of(points_.back().ticks) >= most)
            coarse.halve();
        return std::move(coarse.points_);
    }

    auto state() noexcept
    {
        return std::tie(points_, first_, next_, shift_);
    }                    // see report/checkpoint
    bool rebuild() const // whether each time has its point
    {
        return shift_ < 64 && points_.size() <= kMostPoints && points_.empty() == (next_ == 0);
    }

private:
    PoolPoint& point_at(std::uint64_t ticks)
    {
        if (ticks >= next_) [[unlikely]]
            begin_span(ticks);
        return points_.back();
    }

    // It begins with what is known from the one before. Not inlined, so that add() is, which is
    // called for each event.
    [[gnu::noinline]] void begin_span(std::uint64_t ticks)
    {
        if (points_.empty())
            first_ = ticks;
        while (span_of(ticks) >= kMostPoints)
            halve();
        const std::uint64_t begin = first_ + (span_of(ticks) << shift_);
        if (points_.empty() || begin > points_.back().ticks) {
            PoolPoint next;
            if (!points_.empty()) {
                const PoolPoint& last = points_.back();
                next.allocated = next.peak_allocated = next.least_allocated = last.allocated;
                next.active = last.active;
                next.reserved = next.peak_reserved = last.reserved;
            }
            next.ticks = begin;
            points_.push_back(next);
        }
        next_ = begin + (std::uint64_t{1} << shift_);
    }

    std::uint64_t span_of(std::uint64_t ticks) const noexcept
    {
        return ticks > first_ ? (ticks - first_) >> shift_ : 0;
    }

    void halve()
    {
        ++shift_;
        std::size_t kept = 0;
        for (const PoolPoint& point : points_) {
            const std::uint64_t begin = first_ + ((point.ticks - first_) >> shift_ << shift_);
            if (kept > 0 && points_[kept - 1].ticks == begin) {
                points_[kept - 1].join(point);
                continue;
            }
            points_[kept] = point;
            points_[kept++].ticks = begin;
        }
        points_.resize(kept);
    }

    std::vector<PoolPoint> points_;
    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0; // what is before this is in the last span
    unsigned shift_ = 10;
};

} // namespace vramscope::report
