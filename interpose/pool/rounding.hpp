// interpose/pool/rounding.hpp — PyTorch's rules of how large blocks and segments are.
#pragma once

#include <bit>
#include <cstdint>

#include "interpose/pool/options.hpp"
#include "interpose/pool/stats.hpp"

namespace vramscope::pool {

inline constexpr std::uint64_t kLeastBlock = 512;
inline constexpr std::uint64_t kSmallSegment = 2u << 20;
inline constexpr std::uint64_t kLargeSegment = 20u << 20;
inline constexpr std::uint64_t kLeastLargeAlone = 10u << 20; // from here a segment of its own size
inline constexpr std::uint64_t kSegmentUnit = 2u << 20;
inline constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 48; // more is upstream's to refuse

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) noexcept
{
    return (bytes + unit - 1) / unit * unit;
}

// The entry of roundup_power2_divisions for this size: 0 is that of 1 MiB and below.
constexpr unsigned divisions_for(const Options& options, std::uint64_t bytes) noexcept
{
    const unsigned power = static_cast<unsigned>(std::bit_width(bytes)) - 1;
    const auto most = static_cast<unsigned>(options.roundup_power2_divisions.size()) - 1;
    const unsigned entry = power <= 20 ? 0 : power - 20 < most ? power - 20 : most;
    return options.roundup_power2_divisions[entry];
}

// Up to 2^n + k * 2^n / divisions.
constexpr std::uint64_t round_to_division(std::uint64_t bytes, unsigned divisions) noexcept
{
    if (std::has_single_bit(bytes) || divisions <= 1)
        return bytes;
    const std::uint64_t floor = std::bit_floor(bytes);
    const std::uint64_t step = floor / divisions;
    return step == 0 ? 2 * floor : round_up(bytes, step);
}

constexpr std::uint64_t round_block(const Options& options, std::uint64_t bytes) noexcept
{
    if (bytes < kLeastBlock)
        return kLeastBlock;
    const unsigned divisions = divisions_for(options, bytes);
    if (divisions > 1 && bytes > kLeastBlock * divisions)
        return round_up(round_to_division(bytes, divisions), kLeastBlock);
    return round_up(bytes, kLeastBlock);
}

constexpr std::uint64_t round_segment(std::uint64_t rounded) noexcept
{
    if (rounded <= kSmallBytes)
        return kSmallSegment;
    return rounded < kLeastLargeAlone ? kLargeSegment : round_up(rounded, kSegmentUnit);
}

} // namespace vramscope::pool
