// report/replay/pool/segments.hpp — the address space of the internal pool.
//
// Segments are disjoint, and so are the blocks of one: before one is added, those that it overlaps
// have to be removed. A block that goes beyond its segment is cut off there. Pointers to segments
// are valid until one is added.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/lists_by_key.hpp"
#include "report/replay/lookup/slab.hpp"
#include "report/replay/pool/pool_blocks.hpp"

namespace vramscope::report {

struct Segment {
    // What an event of a block in it looks at comes first, in kHotLines lines of the cache.
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t used_bytes = 0; // what the blocks take
    std::uint32_t gaps = 1;       // free pieces between them, and before and behind
    std::uint32_t number = 0;     // in Segments
    std::uint32_t device = 0;     // whatever the owner counts devices by
    bool small = false;
    PoolBlocks blocks;
    std::uint64_t context = 0;
    std::uint64_t born_ticks = 0;
    std::uint64_t born = 0; // serial
    static constexpr std::size_t kHotLines = 2;

    auto state() noexcept
    {
        return std::tie(address, bytes, device, small, context, born_ticks, born);
    }
    std::uint64_t end() const noexcept { return address + bytes; }
    bool contains(std::uint64_t other) const noexcept { return other - address < bytes; }
    // Free pieces that cannot go back to the driver, since blocks are beside them.
    std::uint64_t split_gaps() const noexcept { return blocks.empty() ? 0 : gaps; }
    std::uint64_t split_bytes() const noexcept { return blocks.empty() ? 0 : bytes - used_bytes; }

    // The place of an address, and what is around it.
    struct Beside {
        PoolBlocks::Place place;
        PoolBlocks::Neighbours neighbours;
    };
    Beside beside(std::uint64_t from) const noexcept
    {
        const PoolBlocks::Place place = blocks.place_of(from);
        return {place, blocks.around(place)};
    }
    // The first block that reaches into [from, to); nullptr: none does. `beside`: that of `from`.
    PoolBlock* overlapping(const Beside& beside, std::uint64_t from, std::uint64_t to) noexcept;
    // Nothing may overlap the block, and it must be in the segment and not empty. `beside`: that of
    // its address.
    void insert(const Beside& beside, const PoolBlock& block);
    // Gives the block that was there.
    PoolBlock erase(const PoolBlocks::Place& place);

private:
    // Free pieces that the block has beside it, if it is there.
    std::uint32_t gaps_beside(const PoolBlock& block,
                              const PoolBlocks::Neighbours& neighbours) const noexcept;
};

class Segments {
public:
    // What it overlaps has to be removed before: see overlapping().
    Segment& add(Segment segment);
    void remove(Segment& segment);

    Segment* at(std::uint64_t address) noexcept // that begins here; nullptr: none does
    {
        const auto* const found = by_start_.find(address);
        return found ? &segments_[found->value] : nullptr;
    }
    // That has this number and contains the address. `number` is that of a segment which is there,
    // or was.
    Segment* numbered(std::size_t number, std::uint64_t address) noexcept
    {
        Segment& segment = segments_[number];
        return segment.contains(address) ? &segment : nullptr;
    }
    Segment* containing(std::uint64_t address);
    Segment* overlapping(std::uint64_t from, std::uint64_t to);
    std::vector<std::uint64_t> of_context(std::uint64_t context); // where they begin, in order

    bool empty() const noexcept { return by_address_.empty(); }
    std::size_t size() const noexcept { return by_address_.size(); }

    template <typename Visit>
    void for_each(Visit visit) const // in order
    {
        for (const auto& [address, number] : by_address_)
            visit(segments_[number]);
    }

    // A segment, and its blocks in order.
    using Kept = std::pair<Segment, std::vector<PoolBlock>>;
    std::vector<Kept> kept() const;
    bool restore(std::vector<Kept>&& kept); // into an empty space

    // Fetches what a look-up of each of these addresses, and of the block there, will touch. At
    // most kMostAhead of them.
    void prefetch(std::span<const std::uint64_t> addresses) noexcept;
    // The same where each one's segment, or what it was, is known by its number.
    void prefetch(std::span<const std::uint64_t> addresses,
                  std::span<const std::size_t> numbers) noexcept;

private:
    // A segment that an address was found in, for others near it.
    struct Hint {
        std::uint64_t page = UINT64_MAX;
        std::size_t segment = 0;
    };
    static constexpr unsigned kPageBits = 21;

    Hint& hint_of(std::uint64_t address) noexcept
    {
        return hints_[(address >> kPageBits) % hints_.size()];
    }
    Segment* hinted(std::uint64_t address) noexcept // nullptr: perhaps there is one even so
    {
        if (!hinted_)
            return nullptr;
        const Hint& hint = hint_of(address);
        return hint.page == address >> kPageBits ? numbered(hint.segment, address) : nullptr;
    }
    void prefetch_blocks(std::span<const std::uint64_t> addresses,
                         std::span<const Segment* const> segments) const noexcept;

    std::array<Hint, 4096> hints_{}; // indexed by page, modulo their number
    bool hinted_ = false;            // there is one
    Slab<Segment> segments_;
    std::map<std::uint64_t, std::size_t> by_address_;
    ListsByKey by_context_;
    FlatMap<std::size_t> by_start_; // a block of its own segment is the usual case
};

} // namespace vramscope::report
