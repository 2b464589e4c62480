// interpose/pool/slab.hpp — records by number, in pages of our own.
//
// Numbers stay good while it grows, and those given back are used again. The kernel moves its pages
// then: references are valid until the next add(). The number 0 stands for no record. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <type_traits>

namespace vramscope::pool {

using Index = std::uint32_t; // a record's number in a slab; 0: no record

// Large tables are asked for in huge pages: a million blocks are looked up at random.
inline void* ask_for_huge(void* pages, std::size_t bytes) noexcept
{
    if (pages == MAP_FAILED)
        return nullptr;
    constexpr std::size_t kHugePagesPay = 4u << 20;
    if (bytes >= kHugePagesPay)
        ::madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

// Zeroed; nullptr: the kernel has no more memory. The advice says that they are ours: see
// map_pages() of tracker/capture/arena.hpp.
inline void* map_pages(std::size_t bytes) noexcept
{
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
        ::madvise(pages, bytes, MADV_DONTDUMP);
        ::madvise(pages, bytes, MADV_RANDOM);
    }
    return ask_for_huge(pages, bytes);
}

// The same pages, followed by zeroed ones, perhaps elsewhere; nullptr: they are as they were.
inline void* grow_pages(void* pages, std::size_t bytes, std::size_t more) noexcept
{
    return ask_for_huge(::mremap(pages, bytes, more, MREMAP_MAYMOVE), more);
}

template <class T>
class Slab {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Slab() = default;
    ~Slab() { clear(); }
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    T& operator[](Index index) noexcept { return records_[index]; }
    const T& operator[](Index index) const noexcept { return records_[index]; }

    // 0: the kernel has no more memory. The record's content is what its last tenant left.
    Index add() noexcept
    {
        if (vacant_) {
            const Index index = vacant_;
            vacant_ = *link_of(index);
            return index;
        }
        if (end_ >= capacity_ && !grow())
            return 0;
        return end_++;
    }

    void remove(Index index) noexcept
    {
        *link_of(index) = vacant_;
        vacant_ = index;
    }

    // One more than the greatest number ever given out.
    Index end() const noexcept { return end_; }

    void clear() noexcept
    {
        if (records_)
            ::munmap(records_, capacity_ * sizeof(T));
        records_ = nullptr;
        capacity_ = 0;
        vacant_ = 0;
        end_ = 1;
    }

private:
    static constexpr std::size_t kLeastRecords = 1024;
    static constexpr std::size_t kMostRecords = std::size_t{1} << 31; // counted by Index

    Index* link_of(Index index) const noexcept
    {
        return reinterpret_cast<Index*>(records_ + index);
    }

    bool grow() noexcept
    {
        const std::size_t records = records_ ? 2 * capacity_ : kLeastRecords;
        if (records > kMostRecords)
            return false;
        void* const pages = records_
                                ? grow_pages(records_, capacity_ * sizeof(T), records * sizeof(T))
                                : map_pages(records * sizeof(T));
        if (!pages)
            return false;
        records_ = static_cast<T*>(pages);
        capacity_ = records;
        return true;
    }

    T* records_ = nullptr;
    std::size_t capacity_ = 0; // records that there is room for; number 0 is one of them
    Index vacant_ = 0;
    Index end_ = 1;
};

} // namespace vramscope::pool
