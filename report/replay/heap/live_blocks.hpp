// report/replay/heap/live_blocks.hpp — the table of blocks that are alive, by key.
//
// Keys are searched for in a small table, and blocks lie close together in another. Pointers to
// blocks are valid until the next insertion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/page_lists.hpp"
#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/lookup/slab.hpp"

namespace vramscope::report {

class LiveBlocks {
public:
    std::size_t size() const noexcept { return numbers_.size(); }

    // A block and its place in the table; false where none is. Valid until the next insertion or
    // removal.
    struct Found {
        FlatMap<std::size_t>::Entry* entry = nullptr;
        Block* block = nullptr;

        explicit operator bool() const noexcept { return block != nullptr; }
        Block& operator*() const noexcept { return *block; }
        Block* operator->() const noexcept { return block; }
    };
    Found find(std::uint64_t key) noexcept
    {
        auto* const entry = numbers_.find(key);
        return entry ? Found{entry, &blocks_[entry->value]} : Found{};
    }
    // The block that is there already; nullptr: none was, and this one is now.
    Block* occupant_or_insert(std::uint64_t key, const Block& block)
    {
        const auto [entry, added] = numbers_.find_or_insert(key);
        if (!added)
            return &blocks_[entry->value];
        entry->value = blocks_.add(block);
        if (is_cut(block))
            cuts_.add(entry->value, block.address);
        return nullptr;
    }
    void erase(const Found& found)
    {
        remove(found.entry->value);
        numbers_.erase(found.entry);
    }

    // Where blocks begin that an allocator cut, and that begin in these addresses; in order.
    std::vector<std::uint64_t> cuts_in(std::uint64_t begin, std::uint64_t bytes)
    {
        std::vector<std::uint64_t> found;
        cuts_.for_each_near(begin, bytes, [&](std::size_t number) {
            const std::uint64_t address = blocks_[number].address;
            if (address >= begin && address - begin < bytes)
                found.push_back(address);
        });
        std::sort(found.begin(), found.end());
        return found;
    }

    // For keys that are about to be looked up.
    void prefetch(std::uint64_t key) const noexcept { numbers_.prefetch(key); }
    // For prefetch_ahead(), with keys that were fetched. `visit` is called with blocks that were
    // looked up two steps ago; by now others may lie there.
    static constexpr std::size_t kPrefetchSteps = 3;
    template <typename Visit>
    void prefetch_blocks(const PrefetchGroup<std::uint64_t>& keys, Visit visit)
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
            remove(entry.value);
            return true;
        });
    }

    // By their keys, in order. See report/checkpoint.
    using Kept = std::vector<std::pair<std::uint64_t, Block>>;
    Kept kept() const
    {
        Kept kept;
        numbers_.for_each(
            [&](const auto& entry) { kept.emplace_back(entry.key, blocks_[entry.value]); });
        std::sort(kept.begin(), kept.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        return kept;
    }
    bool restore(const Kept& kept) // into an empty table
    {
        for (const auto& [key, block] : kept)
            if (occupant_or_insert(key, block))
                return false;
        return true;
    }

private:
    static bool is_cut(const Block& block) noexcept
    {
        return block.memory == format::Memory::suballocated;
    }
    void remove(std::size_t number)
    {
        if (is_cut(blocks_[number]))
            cuts_.remove(number, blocks_[number].address);
        blocks_.remove(number);
    }

    FlatMap<std::size_t> numbers_;
    Slab<Block> blocks_;
    PageLists cuts_;
    PrefetchGroup<std::uint64_t> fetched_keys_;  // into numbers_
    PrefetchGroup<std::size_t> fetched_numbers_; // into blocks_
};

} // namespace vramscope::report
