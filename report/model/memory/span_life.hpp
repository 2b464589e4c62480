// report/model/memory/span_life.hpp — blocks by the span of time in which they came, and left.
#pragma once

#include <cstdint>
#include <limits>

namespace vramscope::report {

struct SpanLife {
    static constexpr std::uint32_t kAlive = std::numeric_limits<std::uint32_t>::max();

    std::uint32_t born = 0;      // number of a span
    std::uint32_t left = kAlive; // the same; kAlive: they did not
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;

    void join(const SpanLife& other) noexcept
    {
        blocks += other.blocks;
        bytes += other.bytes;
    }
};

} // namespace vramscope::report
