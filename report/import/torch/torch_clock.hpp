// report/import/torch/torch_clock.hpp — the moments of a snapshot, as the log counts them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/import/torch/torch_snapshot.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kTorchStart = 1'000'000'000; // ticks
inline constexpr std::uint64_t kBeforeFirst = 1000;         // from there to the first event

class TorchClock {
public:
    explicit TorchClock(const TorchSnapshot& snapshot)
    {
        for (const TorchEvent& event : snapshot.events)
            look_at(event.time_us);
        for (const TorchAnnotation& annotation : snapshot.annotations)
            look_at(annotation.time_us);
    }

    std::uint64_t start_us() const noexcept { return known() ? first_us_ : 0; }
    bool known() const noexcept { return first_us_ != UINT64_MAX; }
    // `count`: of the events before it, which stands in for a time that is not known.
    std::uint64_t ticks(std::uint64_t time_us, std::uint64_t count) const noexcept
    {
        constexpr std::uint64_t kMostUs = std::uint64_t{1} << 50; // 35 years
        const std::uint64_t since = time_us == 0 ? (known() ? 0 : count) : time_us - first_us_;
        return kTorchStart + kBeforeFirst + 1000 * std::min(since, kMostUs);
    }

private:
    void look_at(std::uint64_t time_us)
    {
        if (time_us != 0)
            first_us_ = std::min(first_us_, time_us);
    }
    std::uint64_t first_us_ = UINT64_MAX;
};

} // namespace vramscope::report
