// report/read/segments.hpp — the address space of the internal pool: segments, and the blocks in
// each.
//
// Segments are disjoint, and so are the blocks of one: whoever adds one over others gets to see
// those go first. A block that goes beyond its segment is cut off there. Pointers to a segment are
// valid until it is removed. Memory: one node per segment and per block.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>

#include "report/read/flat_map.hpp"

namespace vramscope::report {

// Live, or freed and waiting for a synchronisation. A serial is the number of an event of the pool.
struct PoolBlock {
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    std::uint64_t born_ticks = 0;
    std::uint64_t born = 0;  // serial
    std::uint64_t freed = 0; // serial; 0: live
    bool pending() const noexcept { return freed != 0; }
};

struct Segment {
    using Blocks = std::map<std::uint64_t, PoolBlock>; // by address

    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0;
    std::size_t device = 0; // whatever the owner counts devices by
    bool small = false;
    std::uint64_t born_ticks = 0;
    std::uint64_t born = 0; // serial
    Blocks blocks;
    std::uint64_t used_bytes = 0; // of the blocks
    std::uint64_t gaps = 1;       // free pieces between them, and before and behind

    std::uint64_t end() const noexcept { return address + bytes; }
    // Free pieces that cannot go back to the driver, since blocks are beside them.
    std::uint64_t split_gaps() const noexcept { return blocks.empty() ? 0 : gaps; }
    std::uint64_t split_bytes() const noexcept { return blocks.empty() ? 0 : bytes - used_bytes; }

    // The first block that reaches into [from, to); end(): none does.
    Blocks::iterator overlapping(std::uint64_t from, std::uint64_t to);
    // The place must be free, in the segment, and not empty.
    PoolBlock& place(std::uint64_t at, const PoolBlock& block);
    void erase(Blocks::iterator block);

private:
    // Free pieces that a block at `at` would have beside it.
    std::uint64_t gaps_beside(std::uint64_t from, std::uint64_t to) const;
};

class Segments {
public:
    // What is there already is to be removed before: see overlapping().
    Segment& add(const Segment& segment);
    void remove(Segment& segment);

    Segment* at(std::uint64_t address); // that begins here; nullptr: none does
    Segment* containing(std::uint64_t address);
    Segment* overlapping(std::uint64_t from, std::uint64_t to);
    Segment* any_of_context(std::uint64_t context);

    bool empty() const noexcept { return by_address_.empty(); }
    const std::map<std::uint64_t, Segment>& all() const noexcept { return by_address_; }

private:
    std::map<std::uint64_t, Segment> by_address_;
    FlatMap<Segment*> by_start_; // a block of its own segment is the usual case
    std::unordered_map<std::uint64_t, std::map<std::uint64_t, Segment*>> by_context_;
};

} // namespace vramscope::report
