// report/replay/lookup/flat_map.hpp — a hash map from 64-bit keys: open addressing, linear probing.
//
// Keys and values are in arrays of their own: a search reads neighbouring keys, and of the values,
// which are far apart in the cache's eyes, the one that it finds.
//
// For the live blocks: no allocation for an insertion or removal once grown, and the memory of what
// is gone is used again. Hash and empty slots are seeded per map: a crafted log can neither make
// all keys collide, nor name the key that stands for nothing but by a chance of 1 in 2^64. Pointers
// to values are valid until the next insert or erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "report/replay/lookup/prefetch.hpp"
#include "report/replay/lookup/random_seed.hpp"

namespace vramscope::report {

template <typename Value>
class FlatMap {
public:
    FlatMap() { resize(kLeastSlots); }

    std::size_t size() const noexcept { return size_; }

    Value* find(std::uint64_t key) noexcept
    {
        for (std::size_t at = home(key);; at = next(at)) {
            if (keys_[at] == key)
                return &values_[at];
            if (keys_[at] == nothing_)
                return nullptr;
        }
    }

    // For many keys that are about to be looked up: prefetch() for each, then prefetch_value().
    void prefetch(std::uint64_t key) const noexcept
    {
        report::prefetch(&keys_[home(key)]);
        if constexpr (sizeof(Value) <= sizeof(std::uint64_t))
            report::prefetch(&values_[home(key)]);
    }
    void prefetch_value(std::uint64_t key) const noexcept
    {
        std::size_t at = home(key);
        while (keys_[at] != nothing_ && keys_[at] != key)
            at = next(at);
        report::prefetch(&values_[at]);
    }

    // The key must not be there yet.
    Value& insert(std::uint64_t key, Value value)
    {
        if ((size_ + 1) * 8 > keys_.size() * 5)
            rebuild(keys_.size() * 2, [](std::uint64_t, const Value&) { return false; });
        ++size_;
        return place(key, std::move(value));
    }

    // `value` is what find() gave.
    void erase(Value* value) noexcept
    {
        auto hole = static_cast<std::size_t>(value - values_.data());
        for (std::size_t at = next(hole); keys_[at] != nothing_; at = next(at)) {
            // Fill the hole with a later one of the run, unless that would put it before its home.
            if (distance(home(keys_[at]), at) >= distance(hole, at)) {
                keys_[hole] = keys_[at];
                values_[hole] = std::move(values_[at]);
                hole = at;
            }
        }
        keys_[hole] = nothing_;
        values_[hole] = Value{};
        --size_;
    }

    template <typename Visit>
    void for_each(Visit visit)
    {
        for (std::size_t at = 0; at < keys_.size(); ++at) {
            if (keys_[at] != nothing_)
                visit(keys_[at], values_[at]);
        }
    }

    // Removes what `condition` holds for.
    template <typename Condition>
    void erase_if(Condition condition)
    {
        rebuild(keys_.size(), condition);
    }

private:
    static constexpr std::size_t kLeastSlots = 1024;

    std::size_t home(std::uint64_t key) const noexcept
    {
        std::uint64_t hash = (key ^ seed_) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        hash *= 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        return static_cast<std::size_t>(hash) & (keys_.size() - 1);
    }

    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (keys_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept
    {
        return (to - from) & (keys_.size() - 1);
    }

    Value& place(std::uint64_t key, Value&& value)
    {
        std::size_t at = home(key);
        while (keys_[at] != nothing_)
            at = next(at);
        keys_[at] = key;
        return values_[at] = std::move(value);
    }

    void resize(std::size_t slots)
    {
        keys_.resize(slots, nothing_);
        values_.resize(slots);
    }

    // Into so many slots; what `leave_out` holds for is gone.
    template <typename Condition>
    void rebuild(std::size_t slots, Condition leave_out)
    {
        const std::vector<std::uint64_t> keys = std::exchange(keys_, {});
        std::vector<Value> values = std::exchange(values_, {});
        resize(slots);
        size_ = 0;
        for (std::size_t at = 0; at < keys.size(); ++at) {
            if (keys[at] == nothing_ || leave_out(keys[at], values[at]))
                continue;
            place(keys[at], std::move(values[at]));
            ++size_;
        }
    }

    std::uint64_t seed_ = random_seed();
    std::uint64_t nothing_ = random_seed(); // the key of an empty slot
    std::vector<std::uint64_t> keys_;
    std::vector<Value> values_; // the value of each key is at the key's index
    std::size_t size_ = 0;
};

} // namespace vramscope::report
