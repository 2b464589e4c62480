// interpose/pool/options.hpp — what a pool is told.
//
// Names and meanings are PyTorch's where it has them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace vramscope::pool {

inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
// A value of max_cached_bytes: as much as the pool's user had allocated at its peak, and twice
// wait_from_bytes, or kLeastSpare.
inline constexpr std::uint64_t kUpToPeak = kNoLimit - 1;
inline constexpr std::uint64_t kLeastSpare = 128u << 20;

struct Options {
    // Blocks of at least this size are not split, and serve only requests of about their size.
    std::uint64_t max_split_bytes = kNoLimit;
    // A request is rounded up to 2^n + k * 2^n / divisions. One entry for each power of two from
    // 1 MiB (the first holds for all below too) to 32 GiB (the last holds for all above); 0: off.
    std::array<std::uint8_t, 16> roundup_power2_divisions{};
    // A part of allowed_bytes: beyond it, unused segments go back before more is taken. 0: off.
    double garbage_collection_threshold = 0;
    // Reserved bytes may not exceed this.
    std::uint64_t allowed_bytes = kNoLimit;
    // Bytes of wholly unused segments beyond this go back at once.
    std::uint64_t max_cached_bytes = kNoLimit;
    // While less than this is pending, more is taken rather than waited for (in cache up to 32
    // blocks of a size): one synchronisation then serves many requests. 0: it is always waited for.
    std::uint64_t wait_from_bytes = 0;

    bool rounds_up() const noexcept
    {
        return std::any_of(roundup_power2_divisions.begin(), roundup_power2_divisions.end(),
                           [](unsigned divisions) { return divisions > 1; });
    }

    // What is taken instead must not go back as surplus at its free.
    std::uint64_t pending_worth_waiting() const noexcept
    {
        return std::min(wait_from_bytes, max_cached_bytes / 2);
    }
};

} // namespace vramscope::pool
