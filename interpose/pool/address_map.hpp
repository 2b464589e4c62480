// interpose/pool/address_map.hpp — from a 64-bit key, never 0, to a record's number: open
// addressing in one array of 16-byte entries.
//
// Its memory comes from mmap, at first use; it grows by doubling and never shrinks. Not
// thread-safe.
#pragma once

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

    Index find(std::uint64_t key) const noexcept
    {
        if (!entries_)
            return 0;
        std::size_t at = home(key);
        while (entries_[at].key != key && entries_[at].key != 0)
            at = next(at);
        return entries_[at].index; // an empty entry has index 0
    }

    // False: no room, nothing changed. After true the next insert cannot fail.
    bool make_room() noexcept { return (size_ + 1) * 8 <= slots_ * 5 || grow(); }

    // The key is not there yet, and there is room.
    void insert(std::uint64_t key, Index index) noexcept
    {
        place(key, index);
        ++size_;
    }

    // The key is there.
    void erase(std::uint64_t key) noexcept
    {
        std::size_t hole = home(key);
        while (entries_[hole].key != key)
            hole = next(hole);
        for (std::size_t at = next(hole); entries_[at].key != 0; at = next(at)) {
            // Fill the hole with a later one of the run, unless that would put it before its home.
            if (distance(home(entries_[at].key), at) >= distance(hole, at)) {
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
        entries_ = nullptr;
        slots_ = size_ = 0;
    }

private:
    struct Entry {
        std::uint64_t key;
        Index index;
    };
    static_assert(sizeof(Entry) == 16);
    static constexpr std::size_t kLeastSlots = 1024;

    // Fibonacci hashing: neighbouring addresses are spread evenly.
    std::size_t home(std::uint64_t key) const noexcept
    {
        return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> shift_);
    }
    std::size_t next(std::size_t at) const noexcept { return (at + 1) & (slots_ - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const noexcept
    {
        return (to - from) & (slots_ - 1);
    }

    void place(std::uint64_t key, Index index) noexcept
    {
        std::size_t at = home(key);
        while (entries_[at].key != 0)
            at = next(at);
        entries_[at] = {key, index};
    }

    bool grow() noexcept
    {
        const std::size_t slots = slots_ ? slots_ * 2 : kLeastSlots;
        auto* const entries = static_cast<Entry*>(map_pages(slots * sizeof(Entry)));
        if (!entries)
            return false;
        Entry* const old = entries_;
        const std::size_t old_slots = slots_;
        entries_ = entries;
        slots_ = slots;
        shift_ = 64 - static_cast<unsigned>(std::bit_width(slots - 1));
        for (std::size_t at = 0; at < old_slots; ++at) {
            if (old[at].key != 0)
                place(old[at].key, old[at].index);
        }
        if (old)
            ::munmap(old, old_slots * sizeof(Entry));
        return true;
    }

    Entry* entries_ = nullptr;
    std::size_t slots_ = 0, size_ = 0;
    unsigned shift_ = 0;
};

} // namespace vramscope::pool
