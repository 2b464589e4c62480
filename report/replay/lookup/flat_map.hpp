// report/replay/lookup/flat_map.hpp — a hash map from 64-bit keys: open addressing, linear probing.
//
// Each key and its value lie side by side, so that a search costs one line of the cache. Values are
// small, such as numbers of what a Slab holds.
//
// No allocation for an insertion or removal once grown, and the memory of what is gone is used
// again. Hash and empty slots are seeded per map: a crafted log can neither make all keys collide,
// nor name the key that stands for nothing but by a chance of 1 in 2^64. Pointers to entries are
// valid until the next insert or erase.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "report/replay/lookup/large_pages.hpp"
#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/lookup/random_seed.hpp"

namespace vramscope::report {

template <typename Value>
class FlatMap {
    static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(std::uint64_t));

public:
    struct Entry {
        std::uint64_t key;
        Value value;
    };
    struct Found {
        Entry* entry;
        bool added;
    };

    FlatMap() { resize(1); } // many stay empty

    std::size_t size() const noexcept { return size_; }

    Entry* find(std::uint64_t key) noexcept // nullptr: it is not there
    {
        for (std::size_t at = home(key);; at = next(at)) {
            if (entries_[at].key == key)
                return &entries_[at];
            if (entries_[at].key == nothing_)
                return nullptr;
        }
    }

    // For many keys that are about to be looked up.
    void prefetch(std::uint64_t key) const noexcept { report::prefetch(&entries_[home(key)]); }

    // The key must not be there yet.
    void insert(std::uint64_t key, Value value)
    {
        make_room();
        ++size_;
        place({key, value});
    }

    // Adds the key with no value in particular, unless it is there.
    Found find_or_insert(std::uint64_t key)
    {
        make_room();
        std::size_t at = home(key);
        for (; entries_[at].key != nothing_; at = next(at)) {
            if (entries_[at].key == key)
                return {&entries_[at], false};
        }
        ++size_;
        entries_[at].key = key;
        return {&entries_[at], true};
    }

    // `entry` is what find() gave.
    void erase(Entry* entry) noexcept
    {
        auto hole = static_cast<std::size_t>(entry - entries_.data());
        for (std::size_t at = next(hole); entries_[at].key != nothing_; at = next(at)) {
            // Fill the hole with a later one of the run, unless that would put it before its home.
            if (distance(home(entries_[at].key), at) >= distance(hole, at)) {
                entries_[hole] = entries_[at];
                hole = at;
            }
        }
        entries_[hole].key = nothing_;
        --size_;
    }

    template <typename Visit>
    void for_each(Visit visit) const // with each entry
    {
        for (const Entry& entry : entries_) {
            if (entry.key != nothing_)
                visit(entry);
        }
    }

    // Removes what `condition` holds for.
    template <typename Condition>
    void erase_if(Condition condition)
    {
        rebuild(entries_.size(), condition);
    }

private:
    static constexpr std::size_t kLeastSlots = 1024;

    // Twice: one product keeps addresses that are evenly far apart evenly far apart, and with some
    // multipliers they stood in few long runs.
    std::size_t home(std::uint64_t key) const noexcept
    {
        const std::uint64_t hash = mix(mix(key ^ seed_));
        return static_cast<std::size_t>(hash) & (entries_.size() - 1);
    }
    std::uint64_t mix(std::uint64_t word) const noexcept
    {
        __extension__ using Product = unsigned __int128;
        const Product product = Product{word} * multiplier_;
        return static_cast<std::uint64_t>(product >> 64 ^ product);
    }

    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (entries_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept
    {
        return (to - from) & (entries_.size() - 1);
    }

    void make_room()
    {
        if (size_ >= most_) [[unlikely]]
            grow();
    }
    void place(const Entry& entry)
    {
        std::size_t at = home(entry.key);
        while (entries_[at].key != nothing_)
            at = next(at);
        entries_[at] = entry;
    }

    void resize(std::size_t slots)
    {
        entries_.resize(slots, {nothing_, Value{}});
        most_ = slots * 3 / 8; // few keys are not at home: what cannot be predicted is dear
    }
    void grow()
    {
        rebuild(std::max(entries_.size() * 2, kLeastSlots), [](const Entry&) { return false; });
    }

    // Into so many slots; what `leave_out` holds for is gone.
    template <typename Condition>
    void rebuild(std::size_t slots, Condition leave_out)
    {
        const auto entries = std::exchange(entries_, {});
        resize(slots);
        size_ = 0;
        for (const Entry& entry : entries) {
            if (entry.key == nothing_ || leave_out(entry))
                continue;
            place(entry);
            ++size_;
        }
    }

    std::uint64_t seed_ = random_seed();
    std::uint64_t multiplier_ = random_seed() | 1;
    std::uint64_t nothing_ = random_seed(); // the key of an empty slot
    LargeVector<Entry> entries_;
    std::size_t size_ = 0;
    std::size_t most_ = 0; // that so many slots are for
};

} // namespace vramscope::report
