// report/replay/pool/pool_timeline.hpp — memory over time, in a bounded number of points.
//
// A point is a span of time. When there are too many, two become one: each keeps its last values
// and its peaks, so no peak is lost, only its exact moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vramscope::report {

struct PoolPoint {
    std::uint64_t ticks = 0;     // where the span begins
    std::uint64_t allocated = 0; // at its end, as are the next two
    std::uint64_t active = 0;
    std::uint64_t reserved = 0;
    std::uint64_t peak_allocated = 0; // within it
    std::uint64_t peak_reserved = 0;
    bool used_known = false; // the driver was asked within it
    std::uint64_t used = 0;  // of the device: its last answer
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

    void add_used(std::uint64_t ticks, std::uint64_t used)
    {
        PoolPoint& point = point_at(ticks);
        point.used_known = true;
        point.used = used;
    }

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
                next = {
                    .allocated = last.allocated, .active = last.active, .reserved = last.reserved};
                next.peak_allocated = last.allocated;
                next.peak_reserved = last.reserved;
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
                PoolPoint& before = points_[kept - 1];
                before.peak_allocated = std::max(before.peak_allocated, point.peak_allocated);
                before.peak_reserved = std::max(before.peak_reserved, point.peak_reserved);
                before.allocated = point.allocated;
                before.active = point.active;
                before.reserved = point.reserved;
                if (point.used_known) {
                    before.used_known = true;
                    before.used = point.used;
                }
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
