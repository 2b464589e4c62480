// report/replay/heap/live_blocks.hpp — the table of blocks that are alive, by key.
//
// Keys are searched for in a small table, and blocks lie close together in another. Pointers to
// blocks are valid until the next insert().
#pragma once

#include <cstddef>
#include <cstdint>

#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/slab.hpp"

namespace vramscope::report {

class LiveBlocks {
public:
    std::size_t size() const noexcept { return numbers_.size(); }

    Block* find(std::uint64_t key) noexcept // nullptr: none is there
    {
        const auto* const found = numbers_.find(key);
        return found ? &blocks_[found->value] : nullptr;
    }
    // The key must not be there yet.
    void insert(std::uint64_t key, const Block& block) { numbers_.insert(key, blocks_.add(block)); }
    // The key must be there.
    void erase(std::uint64_t key)
    {
        auto* const found = numbers_.find(key);
        blocks_.remove(found->value);
        numbers_.erase(found);
    }

    // For many keys that are about to be looked up: prefetch() for each, then prefetch_block().
    void prefetch(std::uint64_t key) const noexcept { numbers_.prefetch(key); }
    void prefetch_block(std::uint64_t key) const noexcept
    {
        if (const auto* const found = numbers_.find(key))
            blocks_.prefetch(found->value);
    }

    template <typename Visit>
    void for_each(Visit visit)
    {
        numbers_.for_each([&](const auto& entry) { visit(blocks_[entry.value]); });
    }

    // Removes the blocks that `condition` holds for.
    template <typename Condition>
    void erase_if(Condition condition)
    {
        numbers_.erase_if([&](const auto& entry) {
            if (!condition(blocks_[entry.value]))
                return false;
            blocks_.remove(entry.value);
            return true;
        });
    }

private:
    FlatMap<std::size_t> numbers_;
    Slab<Block> blocks_;
};

} // namespace vramscope::report
