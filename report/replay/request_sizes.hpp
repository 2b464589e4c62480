// report/replay/request_sizes.hpp — how often which size was asked for, in few counters.
//
// There are eight counters for each power of two. A counter that saw one size alone knows it
// exactly; else it takes the middle of those it saw.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace vramscope::report {

class RequestSizes {
public:
    void add(std::uint64_t bytes)
    {
        Counter& counter = counters_[index_of(bytes)];
        if (counter.count == 0)
            counter.least = bytes;
        counter.least = std::min(counter.least, bytes);
        counter.most = std::max(counter.most, bytes);
        ++counter.count;
        largest_ = std::max(largest_, bytes);
    }

    std::uint64_t largest() const noexcept { return largest_; }

    // The mean of `value(size)` over all requests; 0 without any.
    template <typename Value>
    double mean(Value value) const
    {
        double sum = 0;
        double count = 0;
        for (const Counter& counter : counters_) {
            if (counter.count == 0)
                continue;
            const std::uint64_t size = counter.least + (counter.most - counter.least) / 2;
            sum += value(size) * static_cast<double>(counter.count);
            count += static_cast<double>(counter.count);
        }
        return count > 0 ? sum / count : 0;
    }

    auto state() noexcept { return std::tie(counters_, largest_); } // see report/checkpoint

private:
    struct Counter {
        std::uint64_t count = 0;
        std::uint64_t least = 0;
        std::uint64_t most = 0;
    };
    static constexpr unsigned kSteps = 3; // bits below the highest one that tell counters apart

    static std::size_t index_of(std::uint64_t bytes) noexcept
    {
        if (bytes < 1u << kSteps)
            return bytes;
        const auto power = static_cast<unsigned>(std::bit_width(bytes)) - 1;
        const std::uint64_t step = bytes >> (power - kSteps) & ((1u << kSteps) - 1);
        return (std::size_t{power} - kSteps + 1) << kSteps | step;
    }

    std::array<Counter, (64 - kSteps + 1) << kSteps> counters_{};
    std::uint64_t largest_ = 0;
};

} // namespace vramscope::report
