// interpose/pool/stats.hpp — the pool in numbers, in PyTorch's vocabulary (memory_stats).
//
// The counters that these numbers come from are here too. Counts and bytes are held for small and
// large blocks (by the rounded size, limit 1 MiB); what is said of all is their sum, but for the
// peak of all, which is its own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vramscope::pool {

inline constexpr std::uint64_t kSmallBytes = 1u << 20; // the largest small block
enum Kind : std::uint8_t { kSmall, kLarge };

constexpr Kind kind_of(std::uint64_t rounded) noexcept
{
    return rounded <= kSmallBytes ? kSmall : kLarge;
}

struct Stat {
    std::uint64_t current = 0, peak = 0, allocated = 0, freed = 0;
};

struct StatTypes {
    Stat all, large_pool, small_pool;
};

struct Stats {
    StatTypes allocation, segment, active, inactive_split; // how many
    StatTypes allocated_bytes, reserved_bytes, active_bytes, inactive_split_bytes, requested_bytes;
    Stat oversize_allocations, oversize_segments; // at least max_split_bytes each
    std::uint64_t num_alloc_retries = 0, num_ooms = 0, num_sync_all_streams = 0;
    std::uint64_t num_device_alloc = 0, num_device_free = 0;
    std::uint64_t max_split_size = 0;
    // PyTorch has none of the following.
    std::uint64_t num_reused = 0;        // allocations that no driver call was made for
    std::uint64_t num_refused_frees = 0; // segments that upstream did not take back: forgotten
    std::uint64_t cached_bytes = 0;      // reserved, neither allocated nor pending
    std::uint64_t pending_bytes = 0;     // freed, but not yet safe to hand out
    std::uint64_t releasable_bytes = 0;  // whole segments without a live block
};

// What a counter of blocks or bytes has seen. A peak is noted where it ends: before it shrinks.
class Tally {
public:
    void add(Kind kind, std::uint64_t amount) noexcept
    {
        sides_[kind].allocated += amount;
        grew_ = true;
    }
    void subtract(Kind kind, std::uint64_t amount) noexcept
    {
        if (grew_) {
            note_peaks();
            grew_ = false;
        }
        sides_[kind].freed += amount;
    }

    std::uint64_t current(Kind kind) const noexcept
    {
        return sides_[kind].allocated - sides_[kind].freed;
    }
    std::uint64_t current() const noexcept { return current(kSmall) + current(kLarge); }
    std::uint64_t allocated() const noexcept
    {
        return sides_[kSmall].allocated + sides_[kLarge].allocated;
    }

    StatTypes types() const noexcept
    {
        const Side &a = sides_[kSmall], &b = sides_[kLarge];
        return {.all = {current(), std::max(peak_, current()), a.allocated + b.allocated,
                        a.freed + b.freed},
                .large_pool = stat(b),
                .small_pool = stat(a)};
    }

    void reset_peaks() noexcept
    {
        sides_[kSmall].peak = current(kSmall);
        sides_[kLarge].peak = current(kLarge);
        peak_ = current();
    }
    // What is counted, and no longer current, has always been another's.
    void disown(Kind kind, std::uint64_t amount) noexcept
    {
        Side& side = sides_[kind];
        side.allocated -= amount;
        side.freed -= amount;
        side.peak -= amount;
        peak_ -= amount;
    }
    // All of it is gone at once.
    void forget() noexcept
    {
        note_peaks();
        for (Side& side : sides_)
            side.freed = side.allocated;
    }

private:
    struct Side {
        std::uint64_t allocated = 0, freed = 0, peak = 0;
    };
    static Stat stat(const Side& side) noexcept
    {
        const std::uint64_t current = side.allocated - side.freed;
        return {current, std::max(side.peak, current), side.allocated, side.freed};
    }
    void note_peaks() noexcept
    {
        for (const Kind kind : {kSmall, kLarge})
            sides_[kind].peak = std::max(sides_[kind].peak, current(kind));
        peak_ = std::max(peak_, current());
    }

    Side sides_[2];
    std::uint64_t peak_ = 0;
    bool grew_ = false; // since its peaks were noted
};

} // namespace vramscope::pool
