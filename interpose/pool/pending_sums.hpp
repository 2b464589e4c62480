// interpose/pool/pending_sums.hpp — how much is pending, by the epoch of its free.
//
// No block is touched when an epoch passes. A ring of sums: when it is full, the two oldest
// become one with the later stamp. Then blocks may pass before their sum does, and are taken out
// one by one.
#pragma once

#include <array>
#include <cstdint>

#include "interpose/pool/stats.hpp"

namespace vramscope::pool {

class PendingSums {
public:
    void add(std::uint64_t stamp, Kind kind, std::uint64_t bytes) noexcept
    {
        if (sums_[newest_].stamp != stamp) [[unlikely]]
            begin(stamp);
        ++sums_[newest_].blocks[kind];
        sums_[newest_].bytes[kind] += bytes;
    }

    bool any_passed(std::uint64_t safe) const noexcept { return oldest_stamp_ <= safe; }

    // on_passed(kind, blocks, bytes) for what `safe` covers.
    template <class OnPassed>
    void pass(std::uint64_t safe, OnPassed on_passed) noexcept
    {
        while (count_ != 0 && any_passed(safe)) {
            for (const Kind kind : {kSmall, kLarge})
                on_passed(kind, sum(0).blocks[kind], sum(0).bytes[kind]);
            passed_ = oldest_stamp_;
            sum(0) = {};
            first_ = (first_ + 1) % kSums;
            --count_;
            oldest_stamp_ = count_ != 0 ? sum(0).stamp : kNone;
        }
    }

    // A block that was added, and that counts() still, leaves.
    void subtract(std::uint64_t stamp, Kind kind, std::uint64_t bytes) noexcept
    {
        unsigned at = 0;
        while (sum(at).stamp < stamp)
            ++at;
        --sum(at).blocks[kind];
        sum(at).bytes[kind] -= bytes;
    }

    // Whether what was freed with this stamp is part of a sum that has not passed.
    bool counts(std::uint64_t stamp) const noexcept { return stamp > passed_; }

private:
    struct Sum {
        std::uint64_t stamp = 0; // 0: it has passed, or was never used
        std::uint64_t blocks[2] = {};
        std::uint64_t bytes[2] = {};
    };
    static constexpr unsigned kSums = 64;
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    Sum& sum(unsigned at) noexcept { return sums_[(first_ + at) % kSums]; }

    [[gnu::noinline]] void begin(std::uint64_t stamp) noexcept
    {
        if (count_ == kSums)
            join_oldest();
        newest_ = (first_ + count_++) % kSums;
        sums_[newest_] = {.stamp = stamp};
        oldest_stamp_ = sum(0).stamp;
    }
    void join_oldest() noexcept
    {
        Sum &oldest = sum(0), &second = sum(1);
        for (const Kind kind : {kSmall, kLarge}) {
            second.blocks[kind] += oldest.blocks[kind];
            second.bytes[kind] += oldest.bytes[kind];
        }
        first_ = (first_ + 1) % kSums;
        --count_;
    }

    std::array<Sum, kSums> sums_{};
    unsigned first_ = 0, count_ = 0, newest_ = 0;
    std::uint64_t oldest_stamp_ = kNone; // that of the first sum; kNone: there is none
    std::uint64_t passed_ = 0;           // what had a stamp up to this is not counted any more
};

} // namespace vramscope::pool
