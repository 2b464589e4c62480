// report/replay/pool/waiting_blocks.hpp — freed blocks that queued work may still use, in the order
// of their frees.
//
// Frees come nearly in the order of their times: those that come late are in a binary heap of their
// own. A block may have been taken again meanwhile, or be gone with its segment: its place in here
// stays behind, until it is released or forgotten.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

struct WaitingBlock {
    std::uint64_t ticks; // of its free
    std::uint64_t address;
    std::uint64_t freed; // serial, of the block's free
    std::size_t segment; // the number of the one that it lay in
};

class WaitingBlocks {
public:
    std::size_t size() const noexcept { return in_order_.size() - first_ + late_.size(); }

    void add(const WaitingBlock& block)
    {
        if (in_order_.empty() || block.ticks >= in_order_.back().ticks)
            return in_order_.push_back(block);
        late_.push_back(block);
        std::push_heap(late_.begin(), late_.end(), kLater);
    }

    // Calls `release` with each that was freed by `ticks`. Before that, `prefetch` is called with
    // up to kMostAhead of those whose turn comes next.
    template <typename Prefetch, typename Release>
    void release_up_to(std::uint64_t ticks, Prefetch prefetch, Release release)
    {
        std::size_t fetched = first_;
        for (; first_ < in_order_.size() && in_order_[first_].ticks <= ticks; ++first_) {
            if (first_ == fetched) {
                const auto left = std::span<const WaitingBlock>(in_order_).subspan(first_);
                const auto next = left.first(std::min(left.size(), kMostAhead));
                prefetch(next);
                fetched += next.size();
            }
            release(in_order_[first_]);
        }
        if (2 * first_ >= in_order_.size())
            forget_released();
        while (!late_.empty() && late_.front().ticks <= ticks) {
            release(late_.front());
            std::pop_heap(late_.begin(), late_.end(), kLater);
            late_.pop_back();
        }
    }

    template <typename Condition>
    void forget_if(Condition condition)
    {
        forget_released();
        std::erase_if(in_order_, condition);
        std::erase_if(late_, condition);
        std::make_heap(late_.begin(), late_.end(), kLater);
    }

    auto state() // see report/checkpoint
    {
        forget_released();
        return std::tie(in_order_, late_);
    }
    // Calls `renumber` with each, and forgets those that it says false of.
    template <typename Renumber>
    void rebuild(Renumber renumber)
    {
        std::erase_if(in_order_, [&](WaitingBlock& one) { return !renumber(one); });
        std::erase_if(late_, [&](WaitingBlock& one) { return !renumber(one); });
        std::make_heap(late_.begin(), late_.end(), kLater);
    }

private:
    // The oldest is on top.
    static constexpr auto kLater = [](const WaitingBlock& a, const WaitingBlock& b) {
        return a.ticks > b.ticks;
    };

    void forget_released()
    {
        in_order_.erase(in_order_.begin(), in_order_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    std::vector<WaitingBlock> in_order_;
    std::size_t first_ = 0; // what stands before it was released
    std::vector<WaitingBlock> late_;
};

} // namespace vramscope::report
