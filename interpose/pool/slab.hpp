// interpose/pool/slab.hpp — records by number, in pages of our own.
//
// Numbers stay good while it grows, and those given back are used again. It grows in pieces, each
// as large as all before it, so that nothing is reserved that is not used. The number 0 stands for
// no record. Not thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <type_traits>

namespace vramscope::pool {

using Index = std::uint32_t; // a record's number in a slab; 0: no record

// Zeroed. Large tables are asked for in huge pages: a million blocks are looked up at random.
inline void* map_pages(std::size_t bytes) noexcept
{
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return nullptr;
    constexpr std::size_t kHugePagesPay = 4u << 20;
    if (bytes >= kHugePagesPay)
        ::madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
}

template <class T>
class Slab {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Slab() = default;
    ~Slab() { clear(); }
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    T& operator[](Index index) noexcept { return *at(index); }
    const T& operator[](Index index) const noexcept { return *at(index); }

    // 0: the kernel has no more memory. The record's content is what its last tenant left.
    Index add() noexcept
    {
        if (vacant_) {
            const Index index = vacant_;
            vacant_ = *link_of(index);
            return index;
        }
        if (end_ >= capacity() && !grow())
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
        for (unsigned piece = 0; piece < pieces_; ++piece)
            ::munmap(at(first_of(piece)), bytes_of(piece));
        pieces_ = 0;
        vacant_ = 0;
        end_ = 1;
    }

private:
    static constexpr unsigned kFirstBits = 10, kMostPieces = 32 - kFirstBits;
    static constexpr Index kFirstPiece = Index{1} << kFirstBits; // records in piece 0

    // Piece 0 has the numbers below 2^10, piece n those from 2^(9+n) to 2^(10+n).
    std::size_t capacity() const noexcept
    {
        return pieces_ ? std::size_t{1} << (kFirstBits + pieces_ - 1) : 0;
    }
    static std::size_t bytes_of(unsigned piece) noexcept
    {
        return sizeof(T) << (kFirstBits + (piece ? piece - 1 : 0));
    }
    static Index first_of(unsigned piece) noexcept
    {
        return piece ? Index{1} << (kFirstBits + piece - 1) : 0;
    }
    // Called several times for each hit, so the piece is found without a branch.
    T* at(Index index) const noexcept
    {
        const auto top = 31u ^ static_cast<unsigned>(std::countl_zero(index | (kFirstPiece - 1)));
        return reinterpret_cast<T*>(origin_[top - (kFirstBits - 1)] + index * sizeof(T));
    }
    Index* link_of(Index index) const noexcept { return reinterpret_cast<Index*>(at(index)); }

    bool grow() noexcept
    {
        if (pieces_ == kMostPieces)
            return false;
        void* const pages = map_pages(bytes_of(pieces_));
        if (!pages)
            return false;
        origin_[pieces_] = reinterpret_cast<std::uintptr_t>(pages) - first_of(pieces_) * sizeof(T);
        ++pieces_;
        return true;
    }

    std::uintptr_t origin_[kMostPieces] =
        {}; // where number 0 would be, were a piece to begin there
    unsigned pieces_ = 0;
    Index vacant_ = 0;
    Index end_ = 1;
};

} // namespace vramscope::pool
