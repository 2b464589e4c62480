// interpose/pool/address_map.hpp — from a 64-bit key to a record's number, by open addressing.
//
// One array of 8-byte entries. An entry has the upper half of the key's hash; the record itself,
// which the caller needs next anyway, has the key. This is half the memory of a table of keys, and
// so half the misses of the caches. Memory comes from mmap, at first use; the array grows by
// doubling and never shrinks. Not thread-safe.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "interpose/pool/slab.hpp"

namespace vramscope::pool {

class AddressMap {
public:
    AddressMap() = default;
    ~AddressMap() { clear(); }
    AddressMap(const AddressMap&) = delete;
    AddressMap& operator=(const AddressMap&) = delete;

    std::size_t size() const noexcept { return size_; }

    // key_of(index) is the key of a record. 0: not there.
    template <class KeyOf>
    Index find(std::uint64_t key, KeyOf key_of) const noexcept
    {
        if (!entries_)
            return 0;
        const std::uint32_t tag = tag_of(key);
        for (std::size_t at = home(tag); entries_[at].index; at = next(at)) {
            if (entries_[at].tag == tag && key_of(entries_[at].index) == key)
                return entries_[at].index;
        }
        return 0;
    }

    // Any thread may call it, while others change the map: it reads nothing of the array.
    [[gnu::always_inline]] void prefetch(std::uint64_t key) noexcept
    {
        Entry* const entries = std::atomic_ref(entries_).load(std::memory_order_relaxed);
        const unsigned shift = std::atomic_ref(shift_).load(std::memory_order_relaxed);
        __builtin_prefetch(entries + (tag_of(key) >> shift));
    }

    // False: no room, nothing changed. After true the next insert cannot fail.
    bool make_room() noexcept { return (size_ + 1) * 8 <= slots_ * 5 || grow(); }

    // The key is not there yet, and there is room.
    void insert(std::uint64_t key, Index index) noexcept
    {
        place({tag_of(key), index});
        ++size_;
    }

    // The key is there, for the first of these records.
    void replace(std::uint64_t key, Index index, Index other) noexcept
    {
        entries_[place_of(key, index)].index = other;
    }

    // The key is there, for this record.
    void erase(std::uint64_t key, Index index) noexcept
    {
        std::size_t hole = place_of(key, index);
        for (std::size_t at = next(hole); entries_[at].index; at = next(at)) {
            // Fill the hole with a later one of the run, unless that would put it before its home.
            if (distance(home(entries_[at].tag), at) >= distance(hole, at)) {
                entries_[hole] = entries_[at];
                hole = at;
            }
        }
        entries_[hole] = {};
        --size_;
    }

    void clear() noexcept
    {
        if (entries_)
            ::munmap(entries_, slots_ * sizeof(Entry));
        change(nullptr, 0);
        size_ = 0;
    }

private:
    struct Entry {
        std::uint32_t tag;
        Index index; // 0: empty
    };
    static_assert(sizeof(Entry) == 8);
    static constexpr std::size_t kLeastSlots = 1024;
    __extension__ using Product = unsigned __int128;

    // Both halves of the product are used: one alone leaves multiples of a large power of two
    // in clusters.
    static std::uint32_t tag_of(std::uint64_t key) noexcept
    {
        const auto product = static_cast<Product>(key) * 0x9e3779b97f4a7c15u;
        const std::uint64_t hash =
            static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
        return static_cast<std::uint32_t>(hash >> 32);
    }
    std::size_t home(std::uint32_t tag) const noexcept { return tag >> shift_; }
    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_ - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept
    {
        return (to - from) & (slots_ - 1);
    }

    std::size_t place_of(std::uint64_t key, Index index) const noexcept
    {
        std::size_t at = home(tag_of(key));
        while (entries_[at].index != index)
            at = next(at);
        return at;
    }
    void place(Entry entry) noexcept
    {
        std::size_t at = home(entry.tag);
        while (entries_[at].index)
            at = next(at);
        entries_[at] = entry;
    }

    bool grow() noexcept
    {
        const std::size_t slots = slots_ ? slots_ * 2 : kLeastSlots;
        if (slots > std::size_t{1} << 32)
            return false;
        auto* const entries = static_cast<Entry*>(map_pages(slots * sizeof(Entry)));
        if (!entries)
            return false;
        Entry* const old = entries_;
        const std::size_t old_slots = slots_;
        change(entries, slots);
        for (std::size_t at = 0; at < old_slots; ++at) {
            if (old[at].index)
                place(old[at]);
        }
        if (old)
            ::munmap(old, old_slots * sizeof(Entry));
        return true;
    }

    // prefetch() may read them meanwhile, the one as it was and the other as it will be.
    void change(Entry* entries, std::size_t slots) noexcept
    {
        const unsigned shift = slots ? 32 - static_cast<unsigned>(std::bit_width(slots - 1)) : 0;
        std::atomic_ref(entries_).store(entries, std::memory_order_relaxed);
        std::atomic_ref(shift_).store(shift, std::memory_order_relaxed);
        slots_ = slots;
    }

    Entry* entries_ = nullptr;
    std::size_t slots_ = 0, size_ = 0;
    unsigned shift_ = 0;
};

} // namespace vramscope::pool
