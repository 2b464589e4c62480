// report/replay/pool/pool_blocks.hpp — the blocks of one segment, by address.
//
// One block lies here itself: most segments never have more. Others are in runs of a few dozen. A
// run keeps where its blocks begin close together, which is what caches like, and the rest of each
// in a slot that stays its own: so what is searched and moved is small, however many blocks a log
// puts into a segment. Pointers to blocks are valid until the next insertion or removal.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

// Live, or freed and waiting for a synchronisation. A serial is the number of an event of the pool.
struct PoolBlock {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    std::uint64_t born_ticks = 0;
    std::uint64_t born = 0;  // serial
    std::uint64_t freed = 0; // serial; 0: live
    std::uint64_t stack = 0; // of its allocation, as the next one
    std::uint64_t api = 0;
    std::uint64_t end() const noexcept { return address + bytes; }
    bool pending() const noexcept { return freed != 0; }
};

class PoolBlocks {
    struct Run;

public:
    static constexpr std::size_t kMostInRun = 64;

    // Between two blocks, or before the first, or behind the last. Valid until the next block is
    // inserted or erased.
    class Place {
        friend class PoolBlocks;
        std::size_t run = 0;
        std::size_t at = 0; // in the run; its size: behind all of them
    };
    // The blocks around an address, while they are prefetched. Valid until the next block is
    // inserted or erased.
    class Near {
        friend class PoolBlocks;
        const Run* run = nullptr;
    };
    // What has to be known of the blocks before and behind.
    struct Neighbours {
        std::uint64_t end_before = 0;      // 0: none is before it
        std::uint64_t behind = UINT64_MAX; // where the next one begins; UINT64_MAX: none does
        bool operator==(const Neighbours&) const = default;
    };

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }

    // Before the first block that begins at the address or behind it.
    Place place_of(std::uint64_t address) const noexcept
    {
        Place place;
        if (has_one()) {
            place.at = one_.address < address;
        } else if (!empty()) {
            place.run = run_of(address);
            place.at = runs_[place.run].run->place_of(address);
        }
        return place;
    }
    // The one before the place, the one behind it; nullptr: there is none.
    PoolBlock* before(const Place& place) noexcept
    {
        if (runs_.empty())
            return place.at > 0 ? &one_ : nullptr;
        if (place.at > 0)
            return &runs_[place.run].run->block(place.at - 1);
        return place.run > 0 ? &runs_[place.run - 1].run->last() : nullptr;
    }
    PoolBlock* behind(const Place& place) noexcept
    {
        if (runs_.empty())
            return place.at < size_ ? &one_ : nullptr;
        if (place.at < runs_[place.run].run->size)
            return &runs_[place.run].run->block(place.at);
        return place.run + 1 < runs_.size() ? &runs_[place.run + 1].run->block(0) : nullptr;
    }
    // Of the place itself, and of the block behind it.
    Neighbours around(const Place& place) const noexcept { return neighbours(place, 0); }
    Neighbours around_block(const Place& place) const noexcept { return neighbours(place, 1); }

    // nullptr: none begins there. `place`: that of the address.
    PoolBlock* find(const Place& place, std::uint64_t address) noexcept
    {
        PoolBlock* const block = behind(place);
        return block && block->address == address ? block : nullptr;
    }

    // `place`: that of its address; none begins there yet.
    void insert(const Place& place, const PoolBlock& block)
    {
        if (empty()) {
            one_ = block;
            size_ = 1;
            return;
        }
        if (has_one())
            add_run(0, 0).insert(0, one_);
        ++size_;
        Run& run = *runs_[place.run].run;
        run.insert(place.at, block);
        if (run.size == kMostInRun) {
            constexpr std::size_t kHalf = kMostInRun / 2;
            run.move_from(kHalf, add_run(place.run + 1, run.begins[kHalf]));
        }
    }
    // The block behind the place: `place` is that of its address.
    void erase(const Place& place)
    {
        --size_;
        if (runs_.empty())
            return;
        runs_[place.run].run->erase(place.at);
        if (runs_[place.run].run->size == 0)
            remove_run(place.run);
    }

    template <typename Visit>
    void for_each(Visit visit) const // in order
    {
        if (has_one())
            visit(one_);
        for (const auto& [from, run] : runs_) {
            for (std::size_t at = 0; at < run->size; ++at)
                visit(run->block(at));
        }
    }

    // What a search for an address will touch. Each needs what the one before it fetched: to be
    // called for many addresses in turn.
    void prefetch_runs() const noexcept
    {
        if (!runs_.empty())
            report::prefetch(runs_.data() + runs_.size() / 2);
    }
    Near prefetch_run(std::uint64_t address) const noexcept
    {
        Near near;
        if (!runs_.empty()) { // else its block lies here
            near.run = runs_[run_of(address)].run.get();
            report::prefetch(&near.run->begins);
            report::prefetch(&near.run->slots);
            report::prefetch(&near.run->size);
        }
        return near;
    }
    static void prefetch_block(const Near& near, std::uint64_t address) noexcept
    {
        if (!near.run)
            return;
        const std::size_t at = near.run->place_of(address);
        if (at > 0)
            report::prefetch(&near.run->block(at - 1));
        if (at < near.run->size)
            report::prefetch(&near.run->block(at));
    }

private:
    // Of each block, in order; never empty between two calls. What a search reads comes first.
    struct alignas(64) Run {
        std::array<std::uint64_t, kMostInRun> begins; // behind these: UINT64_MAX
        std::array<std::uint8_t, kMostInRun> slots;   // indexes into blocks
        std::size_t size = 0;
        std::uint64_t unused = UINT64_MAX; // a bit for each of blocks
        std::array<PoolBlock, kMostInRun> blocks;

        Run() noexcept { begins.fill(UINT64_MAX); }

        PoolBlock& block(std::size_t at) noexcept { return blocks[slots[at]]; }
        const PoolBlock& block(std::size_t at) const noexcept { return blocks[slots[at]]; }
        PoolBlock& last() noexcept { return block(size - 1); }
        std::size_t place_of(std::uint64_t address) const noexcept
        {
            std::size_t less = 0; // no branch: it could not be predicted
            const auto step = [&](std::size_t half) {
                less += begins[less + half - 1] < address ? half : 0;
            };
            for_each_half(std::make_index_sequence<std::countr_zero(kMostInRun)>(), step);
            return less;
        }
        // There is room for it: it is shorter than kMostInRun.
        void insert(std::size_t at, const PoolBlock& block) noexcept
        {
            const auto slot = static_cast<std::uint8_t>(std::countr_zero(unused));
            unused &= unused - 1;
            blocks[slot] = block;
            make_room(slots, at) = slot;
            make_room(begins, at) = block.address;
            ++size;
        }
        void erase(std::size_t at) noexcept
        {
            unused |= std::uint64_t{1} << slots[at];
            close(slots, at);
            close(begins, at);
            begins[--size] = UINT64_MAX;
        }
        // Those from here on go into the other one, which is empty.
        void move_from(std::size_t at, Run& to) noexcept
        {
            for (std::size_t from = at; from < size; ++from)
                to.insert(from - at, block(from));
            while (size > at)
                erase(size - 1);
        }

    private:
        // kMostInRun / 2, and so on to 1.
        template <std::size_t... Power, typename Step>
        static void for_each_half(std::index_sequence<Power...>, Step step) noexcept
        {
            (step(kMostInRun >> (Power + 1)), ...);
        }
        template <typename Value>
        Value& make_room(std::array<Value, kMostInRun>& values, std::size_t at) noexcept
        {
            std::memmove(&values[at] + 1, &values[at], (size - at) * sizeof(Value));
            return values[at];
        }
        template <typename Value>
        void close(std::array<Value, kMostInRun>& values, std::size_t at) noexcept
        {
            std::memmove(&values[at], &values[at] + 1, (size - at - 1) * sizeof(Value));
        }
    };
    static_assert(std::has_single_bit(kMostInRun) && kMostInRun <= 64); // a bit for each

    struct RunFrom {
        std::uint64_t from; // it begins there or behind; the first: 0
        std::unique_ptr<Run> run;
    };

    bool has_one() const noexcept { return size_ == 1 && runs_.empty(); }

    std::size_t run_of(std::uint64_t address) const noexcept // there is one
    {
        std::size_t first = 0;
        for (std::size_t left = runs_.size(); left > 1;) {
            const std::size_t half = left / 2; // no branch: it could not be predicted
            const bool behind = runs_[first + half].from <= address;
            first = __builtin_expect_with_probability(behind, 1, 0.5) ? first + half : first;
            left -= half;
        }
        return first;
    }
    // `width`: blocks that the place counts for.
    Neighbours neighbours(const Place& place, std::size_t width) const noexcept
    {
        Neighbours found;
        const std::size_t end = place.at + width;
        if (runs_.empty()) {
            if (place.at > 0)
                found.end_before = one_.end();
            if (end < size_)
                found.behind = one_.address;
            return found;
        }
        const Run& run = *runs_[place.run].run;
        if (place.at > 0)
            found.end_before = run.block(place.at - 1).end();
        else if (place.run > 0)
            found.end_before = runs_[place.run - 1].run->last().end();
        if (end < run.size)
            found.behind = run.begins[end];
        else if (place.run + 1 < runs_.size())
            found.behind = runs_[place.run + 1].run->begins.front();
        return found;
    }
    Run& add_run(std::size_t at, std::uint64_t from)
    {
        const auto place = runs_.begin() + static_cast<std::ptrdiff_t>(at);
        return *runs_.insert(place, {from, std::make_unique<Run>()})->run;
    }
    void remove_run(std::size_t at)
    {
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!runs_.empty())
            runs_.front().from = 0;
    }

    std::size_t size_ = 0;
    PoolBlock one_;             // the only one, if there is no run
    std::vector<RunFrom> runs_; // in order
};

} // namespace vramscope::report
