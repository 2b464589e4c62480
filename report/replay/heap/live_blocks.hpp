// report/replay/heap/live_blocks.hpp — the table of blocks that are alive, by key.
//
// Keys are searched for in a small table, and blocks lie close together in another. Pointers to
// blocks are valid until the next insert().
#pragma once

#include <cstddef>
#include <cstdint>

#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/prefetch.hpp"
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

    // For prefetch_ahead(). `visit` is called with blocks that were looked up two steps ago; by now
    // others may lie there.
    static constexpr std::size_t kPrefetchSteps = 3;
    template <typename Visit>
    void prefetch(const PrefetchGroup<std::uint64_t>& keys, Visit visit)
    {
        for (const std::size_t number : fetched_numbers_)
            visit(blocks_[number]);
        fetched_numbers_.clear();
        for (const std::uint64_t key : fetched_keys_) {
            if (const auto* const found = numbers_.find(key)) {
                blocks_.prefetch(found->value);
                fetched_numbers_.add(found->value);
            }
        }
        fetched_keys_ = keys;
        for (const std::uint64_t key : keys)
            numbers_.prefetch(key);
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
    PrefetchGroup<std::uint64_t> fetched_keys_;  // into numbers_
    PrefetchGroup<std::size_t> fetched_numbers_; // into blocks_
};

} // namespace vramscope::report
