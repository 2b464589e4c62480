// report/reach/memory/sieve.hpp — which words of a piece of memory point into a set of blocks.
//
// Three sieves, each for what the one before lets through: the range that all blocks lie in, one
// bit for each granule of it, and a search among the blocks. The first takes nearly all the time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

class Sieve {
public:
    static constexpr std::size_t kNone = SIZE_MAX;

    // Sorted by address. Where blocks overlap, the last one that begins before a word is found.
    explicit Sieve(std::vector<AddressSpan> blocks) : blocks_(std::move(blocks))
    {
        if (blocks_.empty())
            return;
        low_ = blocks_.front().begin;
        for (const AddressSpan& block : blocks_)
            span_ = std::max(span_, block.end - low_);
        granule_bits_ = std::max<int>(0, static_cast<int>(std::bit_width(span_)) - kGranuleBits);
        granules_.resize((span_ >> granule_bits_) / 64 + 1);
        for (const AddressSpan& block : blocks_)
            for (Address at = (block.begin - low_) >> granule_bits_;
                 block.end > block.begin && at <= (block.end - 1 - low_) >> granule_bits_; ++at)
                granules_[at / 64] |= 1ULL << at % 64;
    }

    const std::vector<AddressSpan>& blocks() const { return blocks_; }

    // The index of the block that has this address, or kNone.
    std::size_t find(Address address) const
    {
        const Address offset = address - low_;
        if (offset >= span_)
            return kNone;
        const Address granule = offset >> granule_bits_;
        if ((granules_[granule / 64] >> granule % 64 & 1) == 0)
            return kNone;
        const auto behind = std::upper_bound(
            blocks_.begin(), blocks_.end(), address,
            [](Address value, const AddressSpan& block) { return value < block.begin; });
        if (behind == blocks_.begin() || address >= std::prev(behind)->end)
            return kNone;
        return static_cast<std::size_t>(std::prev(behind) - blocks_.begin());
    }

    // Calls hit(index of the word, index of the block).
    template <typename Hit>
    void scan(const std::uint64_t* words, std::size_t count, Hit hit) const
    {
        for (std::size_t at = 0; (at = first_near(words, at, count)) < count; at += kAtOnce)
            for (std::size_t i = at; i < std::min(at + kAtOnce, count); ++i)
                try_word(words, i, hit);
    }

private:
    static constexpr std::size_t kAtOnce = 16;

    // From `at` on: where the first words of these are that have one in the range; or `count`.
    std::size_t first_near(const std::uint64_t* words, std::size_t at, std::size_t count) const;

    static constexpr int kGranuleBits = 21; // 2 Mi granules at most: 256 KiB of bits

    template <typename Hit>
    void try_word(const std::uint64_t* words, std::size_t at, Hit& hit) const
    {
        if (const std::size_t block = find(words[at]); block != kNone)
            hit(at, block);
    }

    std::vector<AddressSpan> blocks_;
    Address low_ = 0;
    Address span_ = 0;
    int granule_bits_ = 0;
    std::vector<std::uint64_t> granules_;
};

} // namespace vramscope::report
