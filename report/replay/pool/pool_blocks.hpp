// report/replay/pool/pool_blocks.hpp — the blocks of one segment, by address.
//
// One block lies here itself: most segments never have more. Others are in runs of a few dozen. A
// run keeps where its blocks begin close together, and where they end, which is what caches like,
// and the rest of each in a slot that stays its own: so what is searched and moved is small, however
// many blocks a log puts into a segment. Pointers to blocks are valid until the next insertion or removal.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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
    // The blocks around an address, while they are prefetched. Valid until the next block is inserted
    // or erased.
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
        if (place.at < runs_[place.run].run->size())
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
        if (has_one()) {
            add_run(0, 0, {});
            runs_.front().run->insert(0, one_);
        }
        ++size_;
        Run& run = *runs_[place.run].run;
        run.insert(place.at, block);
        if (run.size() == kMostInRun) {
            Run behind = run.take_from(kMostInRun / 2);
            const std::uint64_t from = behind.begins.front();
            add_run(place.run + 1, from, std::move(behind));
        }
    }
    // The block behind the place: `place` is that of its address.
    void erase(const Place& place)
    {
        --size_;
        if (runs_.empty())
            return;
        runs_[place.run].run->erase(place.at);
        if (runs_[place.run].run->size() == 0)
            remove_run(place.run);
    }

    template <typename Visit>
    void for_each(Visit visit) const // in order
    {
        if (has_one())
            visit(one_);
        for (const auto& [from, run] : runs_) {
            for (std::size_t at = 0; at < run->size(); ++at)
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
            report::prefetch(near.run);
        }
        return near;
    }
    static void prefetch_begins(const Near& near) noexcept
    {
        constexpr std::size_t kInLine = 64 / sizeof(std::uint64_t);
        for (std::size_t at = 0; near.run && at < near.run->size(); at += kInLine)
            report::prefetch(&near.run->begins[at]);
    }
    static void prefetch_block(const Near& near, std::uint64_t address) noexcept
    {
        const std::size_t at = near.run ? near.run->place_of(address) : 0;
        if (!near.run || at == near.run->size())
            return;
        report::prefetch(&near.run->ends[at]);
        report::prefetch(&near.run->blocks[near.run->slots[at]]);
    }

private:
    // Of sorted elements, how many are less.
    template <typename Element, typename Less>
    static std::size_t count_less(const std::vector<Element>& elements, Less less) noexcept
    {
        const Element* first = elements.data();
        for (std::size_t left = elements.size(); left > 0;) {
            const std::size_t half = (left + 1) / 2;
            const Element* const behind = first + half; // no branch: it could not be predicted
            first = __builtin_expect_with_probability(less(behind[-1]), 1, 0.5) ? behind : first;
            left -= half;
        }
        return static_cast<std::size_t>(first - elements.data());
    }

    struct Run {
        // Of each block, in order; never empty between two calls.
        std::vector<std::uint64_t> begins;
        std::vector<std::uint64_t> ends;
        std::vector<PoolBlock> blocks;
        std::uint64_t unused = 0;                     // a bit for each unused block
        std::array<std::uint8_t, kMostInRun> slots{}; // for each block, its index into blocks

        std::size_t size() const noexcept { return begins.size(); }

        PoolBlock& block(std::size_t at) noexcept { return blocks[slots[at]]; }
        PoolBlock& last() noexcept { return block(size() - 1); }
        std::size_t place_of(std::uint64_t address) const noexcept
        {
            return count_less(begins, [=](std::uint64_t begin) { return begin < address; });
        }
        void insert(std::size_t at, const PoolBlock& block)
        {
            std::size_t slot = blocks.size();
            if (unused == 0) {
                blocks.push_back(block);
            } else {
                slot = static_cast<std::size_t>(std::countr_zero(unused));
                unused &= unused - 1;
                blocks[slot] = block;
            }
            const auto place = slots.begin() + at;
            std::copy_backward(place, slots.begin() + size(), slots.begin() + size() + 1);
            *place = static_cast<std::uint8_t>(slot);
            const auto offset = static_cast<std::ptrdiff_t>(at);
            begins.insert(begins.begin() + offset, block.address);
            ends.insert(ends.begin() + offset, block.end());
        }
        void erase(std::size_t at)
        {
            const auto place = slots.begin() + at;
            unused |= std::uint64_t{1} << *place;
            std::copy(place + 1, slots.begin() + size(), place);
            begins.erase(begins.begin() + static_cast<std::ptrdiff_t>(at));
            ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(at));
        }
        Run take_from(std::size_t at)
        {
            Run taken;
            for (std::size_t from = at; from < size(); ++from)
                taken.insert(from - at, block(from));
            while (size() > at)
                erase(size() - 1);
            return taken;
        }
    };

    struct RunFrom {
        std::uint64_t from; // it begins there or behind; the first: 0
        std::unique_ptr<Run> run;
    };

    bool has_one() const noexcept { return size_ == 1 && runs_.empty(); }

    std::size_t run_of(std::uint64_t address) const noexcept // there is one
    {
        return count_less(runs_, [=](const RunFrom& run) { return run.from <= address; }) - 1;
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
            found.end_before = run.ends[place.at - 1];
        else if (place.run > 0)
            found.end_before = runs_[place.run - 1].run->ends.back();
        if (end < run.size())
            found.behind = run.begins[end];
        else if (place.run + 1 < runs_.size())
            found.behind = runs_[place.run + 1].run->begins.front();
        return found;
    }
    void add_run(std::size_t at, std::uint64_t from, Run run)
    {
        runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(at),
                     {from, std::make_unique<Run>(std::move(run))});
    }
    void remove_run(std::size_t at)
    {
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!runs_.empty())
            runs_.front().from = 0;
    }

    std::size_t size_ = 0;
    std::vector<RunFrom> runs_; // in order
    PoolBlock one_;             // the only one, if there is no run
};

} // namespace vramscope::report
