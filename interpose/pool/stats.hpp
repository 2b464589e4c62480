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

// What a counter of blocks or bytes has seen, for small and for large blocks. An allocation adds to
// one sum and a free to the other; what is current is their difference.
struct Side {
    std::uint64_t allocated = 0, freed = 0, peak = 0;
    std::uint64_t current() const noexcept { return allocated - freed; }
    Stat stat() const noexcept { return {current(), std::max(peak, current()), allocated, freed}; }
};

inline StatTypes stat_types(const Side& small, const Side& large, std::uint64_t peak) noexcept
{
    const std::uint64_t current = small.current() + large.current();
    return {.all = {current, std::max(peak, current), small.allocated + large.allocated,
                    small.freed + large.freed},
            .large_pool = large.stat(),
            .small_pool = small.stat()};
}

// A counter. A peak is noted where it ends: before it shrinks.
class Tally {
public:
    void add(Kind kind, std::uint64_t amount) noexcept { sides_[kind].allocated += amount; }
    void subtract(Kind kind, std::uint64_t amount) noexcept
    {
        note_peaks();
        subtract_noted(kind, amount);
    }
    // The same, of one that has not grown since its peaks were noted.
    void subtract_noted(Kind kind, std::uint64_t amount) noexcept { sides_[kind].freed += amount; }
    void note_peaks() noexcept
    {
        for (Side& side : sides_)
            side.peak = std::max(side.peak, side.current());
        peak_ = std::max(peak_, current());
    }

    std::uint64_t current() const noexcept
    {
        return sides_[kSmall].current() + sides_[kLarge].current();
    }
    std::uint64_t allocated(Kind kind) const noexcept { return sides_[kind].allocated; }
    std::uint64_t allocated() const noexcept { return allocated(kSmall) + allocated(kLarge); }

    StatTypes types() const noexcept { return stat_types(sides_[kSmall], sides_[kLarge], peak_); }

    void reset_peaks() noexcept
    {
        for (Side& side : sides_)
            side.peak = side.current();
        peak_ = current();
    }
    // This amount leaves for another counter, which counts it as if it had always had it.
    void disown(Kind kind, std::uint64_t amount) noexcept
    {
        sides_[kind].allocated -= amount;
        sides_[kind].freed -= amount;
        sides_[kind].peak -= amount;
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
    Side sides_[2];
    std::uint64_t peak_ = 0;
};

// What is active: all that `allocations` ever counted, less what has passed. An allocation need not
// be counted twice.
class ActiveTally {
public:
    explicit ActiveTally(const Tally& allocations) noexcept : allocations_(allocations) {}

    // Its peaks were noted since it grew.
    void pass_noted(Kind kind, std::uint64_t amount) noexcept { passed_[kind] += amount; }
    void note_peaks() noexcept
    {
        for (const Kind kind : {kSmall, kLarge})
            peaks_[kind] = std::max(peaks_[kind], current(kind));
        peak_ = std::max(peak_, current());
    }

    std::uint64_t current(Kind kind) const noexcept
    {
        return allocations_.allocated(kind) - passed_[kind];
    }
    std::uint64_t current() const noexcept { return current(kSmall) + current(kLarge); }

    StatTypes types() const noexcept { return stat_types(side(kSmall), side(kLarge), peak_); }

    void reset_peaks() noexcept
    {
        for (const Kind kind : {kSmall, kLarge})
            peaks_[kind] = current(kind);
        peak_ = current();
    }
    void forget() noexcept
    {
        note_peaks();
        for (const Kind kind : {kSmall, kLarge})
            passed_[kind] = allocations_.allocated(kind);
    }

private:
    Side side(Kind kind) const noexcept
    {
        return {allocations_.allocated(kind), passed_[kind], peaks_[kind]};
    }

    const Tally& allocations_;
    std::uint64_t passed_[2] = {}, peaks_[2] = {};
    std::uint64_t peak_ = 0;
};

} // namespace vramscope::pool
