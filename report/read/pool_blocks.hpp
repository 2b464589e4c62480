// report/read/pool_blocks.hpp — the blocks of one segment, by address.
//
// One block lies here itself: most segments never have more. Others are in short sorted arrays,
// runs, their addresses close together, which is what caches like, and the runs in a tree: so
// however many blocks a log puts into a segment, each costs little. A pointer to a block is valid
// until the next one is placed or erased.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "report/read/prefetch.hpp"

namespace vramscope::report {

// Live, or freed and waiting for a synchronisation. A serial is the number of an event of the pool.
struct PoolBlock {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    std::uint64_t born_ticks = 0;
    std::uint64_t born = 0;  // serial
    std::uint64_t freed = 0; // serial; 0: live
    bool pending() const noexcept { return freed != 0; }
};

class PoolBlocks {
public:
    static constexpr std::size_t kMostInRun = 64;

    struct Around {
        PoolBlock* before = nullptr; // the last that begins before an address; nullptr: none
        PoolBlock* from = nullptr;   // the first that begins there or behind it
    };
    // Of a block's neighbours, what counts for the gaps between.
    struct Neighbours {
        std::uint64_t end_before = 0;      // 0: none is before it
        std::uint64_t behind = UINT64_MAX; // UINT64_MAX: none is behind it
        bool operator==(const Neighbours&) const = default;
    };

    std::size_t size() const noexcept { return has_one_ ? 1 : in_runs_; }
    bool empty() const noexcept { return size() == 0; }

    // nullptr: none begins there.
    PoolBlock* find(std::uint64_t address) noexcept
    {
        PoolBlock* const block = around(address).from;
        return block && block->address == address ? block : nullptr;
    }
    PoolBlock* first() noexcept { return around(0).from; }

    Around around(std::uint64_t address) noexcept
    {
        Around around;
        if (has_one_) {
            (one_.address < address ? around.before : around.from) = &one_;
            return around;
        }
        if (runs_.empty())
            return around;
        const auto run = run_of(address);
        const std::size_t at = run->second.place_of(address);
        return {before(run, at), from(run, at)};
    }

    // None begins there yet. Gives its neighbours.
    Neighbours insert(const PoolBlock& block)
    {
        if (empty()) {
            one_ = block;
            has_one_ = true;
            return {};
        }
        if (has_one_) {
            runs_[0].insert(0, one_);
            has_one_ = false;
            in_runs_ = 1;
        }
        ++in_runs_;
        const auto run = run_of(block.address);
        const std::size_t at = run->second.place_of(block.address);
        const Neighbours neighbours = neighbours_of({before(run, at), from(run, at)});
        run->second.insert(at, block);
        if (run->second.blocks.size() == kMostInRun) {
            Run behind = run->second.take_from(kMostInRun / 2);
            runs_.emplace(behind.addresses.front(), std::move(behind));
        }
        return neighbours;
    }
    // One of these. Gives the neighbours that it had.
    Neighbours erase(std::uint64_t address)
    {
        if (has_one_) {
            has_one_ = false;
            return {};
        }
        --in_runs_;
        const auto run = run_of(address);
        const std::size_t at = run->second.place_of(address);
        const Neighbours neighbours = neighbours_of({before(run, at), from(run, at + 1)});
        run->second.erase(at);
        if (run->second.blocks.empty())
            remove(run);
        return neighbours;
    }

    template <typename Visit>
    void for_each(Visit visit) const // in order
    {
        if (has_one_)
            visit(one_);
        for (const auto& [from, run] : runs_)
            std::for_each(run.blocks.begin(), run.blocks.end(), visit);
    }

    // What a search around the address will read.
    void prefetch(std::uint64_t address) const noexcept
    {
        if (runs_.empty())
            return;
        constexpr std::size_t kInLine = 64 / sizeof(std::uint64_t);
        const Run& run = std::prev(runs_.upper_bound(address))->second;
        for (std::size_t at = 0; at < run.addresses.size(); at += kInLine)
            report::prefetch(&run.addresses[at]);
    }

private:
    // Never empty. Its blocks begin at its key or behind, and before the key of the next one; that
    // of the first is 0.
    struct Run {
        std::vector<std::uint64_t> addresses;
        std::vector<PoolBlock> blocks; // beside addresses

        // Of the first block that begins at the address or behind it.
        std::size_t place_of(std::uint64_t address) const noexcept
        {
            const std::uint64_t* first = addresses.data();
            for (std::size_t left = addresses.size(); left > 0;) { // no branch on what is found
                const std::size_t half = (left + 1) / 2;
                first += half * std::size_t{first[half - 1] < address};
                left -= half;
            }
            return static_cast<std::size_t>(first - addresses.data());
        }
        void insert(std::size_t at, const PoolBlock& block)
        {
            addresses.insert(addresses.begin() + static_cast<std::ptrdiff_t>(at), block.address);
            blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(at), block);
        }
        void erase(std::size_t at)
        {
            addresses.erase(addresses.begin() + static_cast<std::ptrdiff_t>(at));
            blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(at));
        }
        Run take_from(std::size_t at)
        {
            const auto from = static_cast<std::ptrdiff_t>(at);
            Run taken{{addresses.begin() + from, addresses.end()},
                      {blocks.begin() + from, blocks.end()}};
            addresses.resize(at);
            blocks.resize(at);
            return taken;
        }
    };
    using Runs = std::map<std::uint64_t, Run>;

    // Of the place `at` in the run: what is before it, and what is there or in the next run.
    PoolBlock* before(Runs::iterator run, std::size_t at) noexcept
    {
        if (at > 0)
            return &run->second.blocks[at - 1];
        return run == runs_.begin() ? nullptr : &std::prev(run)->second.blocks.back();
    }
    PoolBlock* from(Runs::iterator run, std::size_t at) noexcept
    {
        if (at < run->second.blocks.size())
            return &run->second.blocks[at];
        return ++run == runs_.end() ? nullptr : &run->second.blocks.front();
    }
    static Neighbours neighbours_of(const Around& around) noexcept
    {
        Neighbours neighbours;
        if (around.before)
            neighbours.end_before = around.before->address + around.before->bytes;
        if (around.from)
            neighbours.behind = around.from->address;
        return neighbours;
    }

    // It is empty.
    void remove(Runs::iterator run)
    {
        const bool first = run == runs_.begin();
        runs_.erase(run);
        if (!first || runs_.empty())
            return;
        auto next = runs_.extract(runs_.begin());
        next.key() = 0;
        runs_.insert(std::move(next));
    }

    Runs::iterator run_of(std::uint64_t address) noexcept // there is one
    {
        return std::prev(runs_.upper_bound(address));
    }

    PoolBlock one_;
    bool has_one_ = false; // and then no other
    std::size_t in_runs_ = 0;
    Runs runs_;
};

} // namespace vramscope::report
