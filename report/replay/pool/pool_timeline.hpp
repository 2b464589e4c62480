// report/replay/pool/pool_timeline.hpp — memory over time, in a bounded number of points.
//
// A point is a span of time. When there are too many, two become one: each keeps its last values
// and its peaks, so no peak is lost, only its exact moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "report/model/waterfall.hpp"

namespace vramscope::report {

struct PoolPoint : MemorySpan {
    std::uint64_t ticks = 0; // where the span begins
};

class PoolTimeline {
public:
    static constexpr std::size_t kMostPoints = 256;

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
    }

    void add_used(std::uint64_t ticks, std::uint64_t used) { point_at(ticks).used = used; }

    const std::vector<PoolPoint>& points() const noexcept { return points_; }

private:
    // A new span begins with what is known from the one before.
    PoolPoint& point_at(std::uint64_t ticks)
    {
        if (ticks < next_)
            return points_.back();
        if (points_.empty())
            first_ = ticks;
        std::uint64_t span = ticks > first_ ? (ticks - first_) >> shift_ : 0;
        while (span >= kMostPoints) {
            halve();
            span = (ticks - first_) >> shift_;
        }
        const std::uint64_t begin = first_ + (span << shift_);
        if (points_.empty() || begin > points_.back().ticks) {
            PoolPoint next;
            if (!points_.empty()) {
                const PoolPoint& last = points_.back();
                next.allocated = next.peak_allocated = last.allocated;
                next.active = last.active;
                next.reserved = next.peak_reserved = last.reserved;
            }
            next.ticks = begin;
            points_.push_back(next);
        }
        next_ = begin + (std::uint64_t{1} << shift_);
        return points_.back();
    }

    void halve()
    {
        ++shift_;
        std::size_t kept = 0;
        for (const PoolPoint& point : points_) {
            const std::uint64_t begin = first_ + ((point.ticks - first_) >> shift_ << shift_);
            if (kept > 0 && points_[kept - 1].ticks == begin) {
                join(points_[kept - 1], point);
                continue;
            }
            points_[kept] = point;
            points_[kept++].ticks = begin;
        }
        points_.resize(kept);
    }

    static void join(MemorySpan& span, MemorySpan next)
    {
        next.peak_allocated = std::max(next.peak_allocated, span.peak_allocated);
        next.peak_reserved = std::max(next.peak_reserved, span.peak_reserved);
        if (!next.used)
            next.used = span.used;
        span = next;
    }

    std::vector<PoolPoint> points_;
    std::uint64_t first_ = 0;
    std::uint64_t next_ = 0; // what is before this is in the last span
    unsigned shift_ = 10;
};

} // namespace vramscope::report
