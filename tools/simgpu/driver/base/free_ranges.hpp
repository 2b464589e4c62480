// tools/simgpu/driver/base/free_ranges.hpp — the free parts of an address window.
//
// The lowest range that fits is taken, and neighbours merge. "Lowest" is exact among ranges whose
// power-of-two class guarantees a fit; in the class of the size itself only the first few are
// tried. Not thread-safe: its owner locks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace simgpu {

class FreeRanges {
public:
    // The range taken starts at a multiple of the alignment, which is a power of two.
    std::optional<std::uintptr_t> take(std::size_t bytes, std::size_t alignment = 1);
    // Gives a range back. It merges with its neighbours, but not beyond [floor, ceiling). Returns
    // the merged range.
    struct Range {
        std::uintptr_t start;
        std::size_t bytes;
    };
    Range give(std::uintptr_t start, std::size_t bytes, std::uintptr_t floor = 0,
               std::uintptr_t ceiling = UINTPTR_MAX);
    // Removes exactly this free range, which give() or range_at() returned.
    void remove(Range range);
    // The free range that starts there.
    std::optional<Range> range_at(std::uintptr_t start) const;
    std::size_t free_bytes() const { return free_bytes_; }

private:
    using ByStart = std::map<std::uintptr_t, std::size_t>;
    void insert(std::uintptr_t start, std::size_t bytes);
    ByStart::iterator erase(ByStart::iterator range);

    ByStart ranges_;
    std::array<std::set<std::uintptr_t>, 64> classes_; // index: floor(log2(bytes))
    std::uint64_t filled_ = 0;                         // bit n: classes_[n] is not empty
    std::size_t free_bytes_ = 0;
};

} // namespace simgpu
