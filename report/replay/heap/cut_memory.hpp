// report/replay/heap/cut_memory.hpp — driver allocations that an allocator cut into blocks.
//
// Where the log has suballocated blocks, what they were cut from is no allocation of the program's
// own, but a segment: what that allocator has reserved. That it is one follows from its first
// block, which comes after its birth. So a log with such blocks is read a first time for the births
// of the segments alone, and is then replayed right at every moment.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace vramscope::report {

// Of each segment the time of its birth, and its address or handle; and the entry point of its
// first block, which tells the allocator.
using SegmentBirths = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint16_t>;
// In place of one: no block was ever cut there, as the driver refused the rest of what was asked
// for and the allocator gave it back. It had no use, and counts for nobody.
inline constexpr std::uint16_t kNeverUsed = UINT16_MAX;

// Addresses that an allocator of the program's reserved.
struct AllocatorSegment {
    std::uint16_t api = 0; // of its blocks
    std::int16_t device = -1;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;

    bool continues_in(const AllocatorSegment& next) const noexcept
    {
        return next.address - address == bytes && next.api == api && next.device == device;
    }
};

// Ranges of addresses that do not overlap, in their order.
class AddressRanges {
public:
    void add(std::uint64_t begin, std::uint64_t bytes) { bytes_[begin] = bytes; }
    void remove(std::uint64_t begin) { bytes_.erase(begin); }
    void remove_from(std::uint64_t begin, std::uint64_t bytes) // those that begin there
    {
        auto at = bytes_.lower_bound(begin);
        while (at != bytes_.end() && at->first - begin < bytes)
            at = bytes_.erase(at);
    }

    // Where the range begins that holds this address; nullptr: none does.
    const std::uint64_t* around(std::uint64_t address) const
    {
        const auto at = first_that_ends_behind(address);
        return at != bytes_.end() && at->first <= address ? &at->first : nullptr;
    }
    // Removes those that overlap these addresses. `visit` is called with where each begins.
    template <typename Visit>
    void take(std::uint64_t begin, std::uint64_t bytes, Visit visit)
    {
        auto at = first_that_ends_behind(begin);
        while (at != bytes_.end() && (at->first <= begin || at->first - begin < bytes)) {
            visit(at->first);
            at = bytes_.erase(at);
        }
    }

    auto state() noexcept { return std::tie(bytes_); } // see report/checkpoint

private:
    using Map = std::map<std::uint64_t, std::uint64_t>;
    Map::const_iterator first_that_ends_behind(std::uint64_t address) const
    {
        const auto behind = bytes_.upper_bound(address);
        if (behind == bytes_.begin())
            return behind;
        const auto before = std::prev(behind);
        return address - before->first < before->second ? before : behind;
    }

    Map bytes_; // keyed by where they begin
};

} // namespace vramscope::report
