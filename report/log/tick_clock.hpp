// report/log/tick_clock.hpp — ticks of a log to ns since the log was opened.
#pragma once

#include <cstdint>

#include "tracker/format/layout.hpp"

namespace vramscope::report {

class TickClock {
public:
    explicit TickClock(const format::FileHeader& header) noexcept
        : start_ticks_(header.start_ticks), start_ns_(header.start_ns)
    {
        if (header.clock == format::Clock::tsc)
            calibrate(header.latest_ticks, header.latest_ns);
    }

    // A later moment known in both units; the farthest from the start gives the best scale.
    void calibrate(std::uint64_t ticks, std::uint64_t ns) noexcept
    {
        if (ticks <= start_ticks_ || ns <= start_ns_ || ticks - start_ticks_ <= span_ticks_)
            return;
        const double scale =
            static_cast<double>(ns - start_ns_) / static_cast<double>(ticks - start_ticks_);
        if (scale < kLeastScale || scale > kMostScale)
            return;
        span_ticks_ = ticks - start_ticks_;
        ns_per_tick_ = scale;
    }

    std::uint64_t start_ticks() const noexcept { return start_ticks_; }
    // 0 for what was before the start.
    std::uint64_t ns(std::uint64_t ticks) const noexcept
    {
        if (ticks <= start_ticks_)
            return 0;
        return span_ns(ticks - start_ticks_);
    }

    // The ticks whose ns() is so much; UINT64_MAX for what no log reaches.
    std::uint64_t ticks_at(std::uint64_t ns) const noexcept
    {
        const double ticks = static_cast<double>(ns) / ns_per_tick_;
        if (ticks >= kMostNs)
            return UINT64_MAX;
        const std::uint64_t at = start_ticks_ + static_cast<std::uint64_t>(ticks);
        return at < start_ticks_ ? UINT64_MAX : at; // the header is damaged
    }

    // How long so many ticks are.
    std::uint64_t span_ns(std::uint64_t ticks) const noexcept
    {
        const double ns = static_cast<double>(ticks) * ns_per_tick_;
        return ns < kMostNs ? static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(kMostNs);
    }

private:
    // Clocks from 50 MHz to 100 GHz; anything else is a damaged pair.
    static constexpr double kLeastScale = 0.01;
    static constexpr double kMostScale = 20.0;
    static constexpr double kMostNs = 4e18;

    std::uint64_t start_ticks_;
    std::uint64_t start_ns_;
    std::uint64_t span_ticks_ = 0;
    double ns_per_tick_ = 1.0;
};

} // namespace vramscope::report
