// interpose/pool/bins.hpp — free blocks by size.
//
// Two levels: powers of two, and 32 steps in each. The answer is the best fit of the few blocks
// that are looked at, in constant time. Guarded by the pool's lock. Lists go through the
// blocks' own links.
#pragma once

#include <bit>
#include <cstdint>

#include "interpose/pool/block_table.hpp"

namespace vramscope::pool {

class Bins {
public:
    void insert(BlockTable& table, Index index) noexcept
    {
        const Bin bin = bin_of(table[index].bytes);
        Index& head = heads_[bin.power][bin.step];
        table[index].previous = 0;
        table[index].next = head;
        if (head)
            table[head].previous = index;
        head = index;
        steps_[bin.power] |= std::uint32_t{1} << bin.step;
        powers_ |= std::uint64_t{1} << bin.power;
    }

    void remove(BlockTable& table, Index index) noexcept
    {
        const Block& block = table[index];
        if (block.next)
            table[block.next].previous = block.previous;
        if (block.previous) {
            table[block.previous].next = block.next;
            return;
        }
        const Bin bin = bin_of(block.bytes);
        heads_[bin.power][bin.step] = block.next;
        if (block.next)
            return;
        steps_[bin.power] &= ~(std::uint32_t{1} << bin.step);
        if (steps_[bin.power] == 0)
            powers_ &= ~(std::uint64_t{1} << bin.power);
    }

    // Whether blocks of these sizes are in one bin.
    static bool are_alike(std::uint64_t bytes, std::uint64_t others) noexcept
    {
        const Bin bin = bin_of(bytes), other = bin_of(others);
        return bin.power == other.power && bin.step == other.step;
    }

    // A block of at least `bytes` and less than `limit`; 0: none.
    Index fit(const BlockTable& table, std::uint64_t bytes, std::uint64_t limit) const noexcept
    {
        Bin bin = bin_of(bytes);
        Index index = best_of(table, heads_[bin.power][bin.step], bytes);
        if (!index && next_used(bin))
            index = best_of(table, heads_[bin.power][bin.step], bytes);
        return index && table[index].bytes < limit ? index : 0;
    }

    std::uint64_t largest(const BlockTable& table) const noexcept
    {
        if (powers_ == 0)
            return 0;
        const auto power = static_cast<unsigned>(std::bit_width(powers_)) - 1;
        const auto step = static_cast<unsigned>(std::bit_width(steps_[power])) - 1;
        std::uint64_t largest = 0;
        for (Index at = heads_[power][step]; at; at = table[at].next) {
            if (table[at].bytes > largest)
                largest = table[at].bytes;
        }
        return largest;
    }

    // each(Index) for every block that lies in the bin of its size; false: one is elsewhere.
    template <class Each>
    bool for_each(const BlockTable& table, Each each) const noexcept
    {
        for (unsigned power = 0; power < kPowers; ++power) {
            if ((steps_[power] != 0) != (powers_ >> power & 1))
                return false;
            for (unsigned step = 0; step < kSteps; ++step) {
                if ((heads_[power][step] != 0) != (steps_[power] >> step & 1))
                    return false;
                Index previous = 0;
                for (Index at = heads_[power][step]; at; previous = at, at = table[at].next) {
                    const Bin bin = bin_of(table[at].bytes);
                    if (bin.power != power || bin.step != step || table[at].previous != previous)
                        return false;
                    each(at);
                }
            }
        }
        return true;
    }

private:
    static constexpr unsigned kStepBits = 5, kSteps = 1u << kStepBits, kPowers = 52;
    static constexpr int kLooks = 16; // blocks of a bin that are looked at

    struct Bin {
        unsigned power, step;
    };
    static Bin bin_of(std::uint64_t bytes) noexcept
    {
        bytes |= kSteps; // tiny sizes share a bin
        const auto power = static_cast<unsigned>(std::bit_width(bytes)) - 1;
        return {power, static_cast<unsigned>(bytes >> (power - kStepBits)) & (kSteps - 1)};
    }

    // The smallest of the first few blocks that is large enough; where several are, the one at the
    // lowest address.
    static Index best_of(const BlockTable& table, Index at, std::uint64_t bytes) noexcept
    {
        Index best = 0;
        for (int looks = kLooks; at && looks > 0; at = table[at].next, --looks) {
            const Block& block = table[at];
            if (block.bytes == bytes)
                return at;
            if (block.bytes < bytes)
                continue;
            if (!best || block.bytes < table[best].bytes ||
                (block.bytes == table[best].bytes && block.address < table[best].address))
                best = at;
        }
        return best;
    }

    // The first bin after this one that is not empty.
    bool next_used(Bin& bin) const noexcept
    {
        const std::uint64_t steps = std::uint64_t{steps_[bin.power]} >> bin.step >> 1;
        if (steps != 0) {
            bin.step += 1 + static_cast<unsigned>(std::countr_zero(steps));
            return true;
        }
        const std::uint64_t powers = powers_ >> bin.power >> 1;
        if (powers == 0)
            return false;
        bin.power += 1 + static_cast<unsigned>(std::countr_zero(powers));
        bin.step = static_cast<unsigned>(std::countr_zero(steps_[bin.power]));
        return true;
    }

    std::uint64_t powers_ = 0;
    std::uint32_t steps_[kPowers] = {};
    Index heads_[kPowers][kSteps] = {};
};

// A list through the blocks' links, the oldest first.
class Queue {
public:
    Index head() const noexcept { return head_; }

    void append(BlockTable& table, Index index) noexcept
    {
        table[index].next = 0;
        table[index].previous = tail_;
        (tail_ ? table[tail_].next : head_) = index;
        tail_ = index;
    }
    void remove(BlockTable& table, Index index) noexcept
    {
        const Block& block = table[index];
        (block.previous ? table[block.previous].next : head_) = block.next;
        (block.next ? table[block.next].previous : tail_) = block.previous;
    }

private:
    Index head_ = 0, tail_ = 0;
};

} // namespace vramscope::pool
