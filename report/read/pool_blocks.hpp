// report/read/pool_blocks.hpp — the blocks of one segment, by address.
//
// One block lies here itself: most segments never have more. Some are a sorted array, which is what
// caches like; from kMostInArray on they are a tree, so that however many blocks a log puts into a
// segment, each costs little. A reference to a block is valid until the next one is placed or
// erased.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <vector>

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
    static constexpr std::size_t kMostInArray = 512;

    std::size_t size() const noexcept
    {
        return tree_ ? tree_->size() : static_cast<std::size_t>(end() - begin());
    }
    bool empty() const noexcept { return size() == 0; }

    // nullptr: none begins there.
    PoolBlock* find(std::uint64_t address) noexcept
    {
        PoolBlock* const block = first_from(address);
        return block && block->address == address ? block : nullptr;
    }
    // The first that begins at `address` or behind it, and the last that begins before it.
    PoolBlock* first_from(std::uint64_t address) noexcept
    {
        if (tree_) {
            const auto at = tree_->lower_bound(address);
            return at == tree_->end() ? nullptr : &at->second;
        }
        PoolBlock* const at = lower_bound(address);
        return at == end() ? nullptr : at;
    }
    PoolBlock* last_before(std::uint64_t address) noexcept
    {
        if (tree_) {
            const auto at = tree_->lower_bound(address);
            return at == tree_->begin() ? nullptr : &std::prev(at)->second;
        }
        PoolBlock* const at = lower_bound(address);
        return at == begin() ? nullptr : at - 1;
    }
    PoolBlock* first() noexcept { return first_from(0); }

    // None begins there yet.
    void insert(const PoolBlock& block)
    {
        if (empty()) {
            one_ = block;
            has_one_ = true;
            return;
        }
        if (has_one_)
            array_.push_back(one_);
        has_one_ = false;
        if (array_.size() == kMostInArray)
            plant_tree();
        if (tree_)
            tree_->emplace(block.address, block);
        else
            array_.insert(array_.begin() + (lower_bound(block.address) - begin()), block);
    }
    void erase(std::uint64_t address)
    {
        if (has_one_) {
            has_one_ = false;
        } else if (!tree_) {
            array_.erase(array_.begin() + (lower_bound(address) - begin()));
        } else {
            tree_->erase(address);
            if (tree_->empty())
                tree_.reset();
        }
    }

    template <typename Visit>
    void for_each(Visit visit) const // in order
    {
        std::for_each(begin(), end(), visit);
        if (tree_)
            for (const auto& [address, block] : *tree_)
                visit(block);
    }

private:
    const PoolBlock* begin() const noexcept { return has_one_ ? &one_ : array_.data(); }
    const PoolBlock* end() const noexcept
    {
        return has_one_ ? &one_ + 1 : array_.data() + array_.size();
    }
    PoolBlock* begin() noexcept { return has_one_ ? &one_ : array_.data(); }
    PoolBlock* end() noexcept { return has_one_ ? &one_ + 1 : array_.data() + array_.size(); }
    PoolBlock* lower_bound(std::uint64_t address) noexcept
    {
        return std::lower_bound(
            begin(), end(), address,
            [](const PoolBlock& block, std::uint64_t wanted) { return block.address < wanted; });
    }
    void plant_tree()
    {
        tree_ = std::make_unique<std::map<std::uint64_t, PoolBlock>>();
        for (const PoolBlock& block : array_)
            tree_->emplace_hint(tree_->end(), block.address, block);
        array_.clear();
    }

    PoolBlock one_;
    bool has_one_ = false;         // and then no other
    std::vector<PoolBlock> array_; // empty while there is a tree
    std::unique_ptr<std::map<std::uint64_t, PoolBlock>> tree_;
};

} // namespace vramscope::report
