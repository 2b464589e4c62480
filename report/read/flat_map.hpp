// report/read/flat_map.hpp — a hash map from 64-bit keys, in one array: open addressing, linear
// probing.
//
// For the live blocks: no allocation for an insertion or removal once grown, and the memory of what
// is gone is used again. The hash is seeded per map, so that a crafted log cannot make all keys
// collide. Pointers to values are valid until the next insert or erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace vramscope::report {

template <typename Value>
class FlatMap {
public:
    FlatMap()
        : seed_(std::random_device{}() | std::uint64_t{std::random_device{}()} << 32),
          slots_(kLeastSlots)
    {
    }

    std::size_t size() const noexcept { return size_; }

    Value* find(std::uint64_t key) noexcept
    {
        for (std::size_t at = home(key); slots_[at].used; at = next(at)) {
            if (slots_[at].key == key)
                return &slots_[at].value;
        }
        return nullptr;
    }

    // The key must not be there yet.
    Value& insert(std::uint64_t key, Value value)
    {
        if ((size_ + 1) * 8 > slots_.size() * 5)
            grow();
        ++size_;
        return place(key, std::move(value));
    }

    // `value` is what find() gave.
    void erase(Value* value) noexcept
    {
        std::size_t hole = static_cast<std::size_t>(slot_of(value) - slots_.data());
        for (std::size_t at = next(hole); slots_[at].used; at = next(at)) {
            // Fill the hole with a later one of the run, unless that would put it before its home.
            if (distance(home(slots_[at].key), at) >= distance(hole, at)) {
                slots_[hole] = std::move(slots_[at]);
                hole = at;
            }
        }
        slots_[hole] = Slot{};
        --size_;
    }

    template <typename Visit>
    void for_each(Visit visit)
    {
        for (Slot& slot : slots_) {
            if (slot.used)
                visit(slot.key, slot.value);
        }
    }

    // Removes what `condition` holds for.
    template <typename Condition>
    void erase_if(Condition condition)
    {
        std::vector<Slot> old(slots_.size());
        old.swap(slots_);
        size_ = 0;
        for (Slot& slot : old) {
            if (slot.used && !condition(slot.key, slot.value)) {
                place(slot.key, std::move(slot.value));
                ++size_;
            }
        }
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        Value value{};
        bool used = false;
    };
    static constexpr std::size_t kLeastSlots = 1024;

    std::size_t home(std::uint64_t key) const noexcept
    {
        std::uint64_t hash = (key ^ seed_) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
        hash *= 0xd6e8feb86659fd93u;
        hash ^= hash >> 32;
        return static_cast<std::size_t>(hash) & (slots_.size() - 1);
    }

    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept
    {
        return (to - from) & (slots_.size() - 1);
    }

    Slot* slot_of(Value* value) noexcept
    {
        const auto offset = static_cast<std::size_t>(
            reinterpret_cast<char*>(value) - reinterpret_cast<char*>(&slots_.front().value));
        return &slots_[offset / sizeof(Slot)];
    }

    Value& place(std::uint64_t key, Value&& value)
    {
        std::size_t at = home(key);
        while (slots_[at].used)
            at = next(at);
        slots_[at] = {key, std::move(value), true};
        return slots_[at].value;
    }

    void grow()
    {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (Slot& slot : old) {
            if (slot.used)
                place(slot.key, std::move(slot.value));
        }
    }

    std::uint64_t seed_;
    std::vector<Slot> slots_;
    std::size_t size_ = 0;
};

} // namespace vramscope::report
