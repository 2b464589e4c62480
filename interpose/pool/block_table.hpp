// interpose/pool/block_table.hpp — the blocks of one pool, and the books of what became of them.
//
// Both policies share it. Blocks are found by address. Guarded by the pool's lock. Memory comes
// from mmap; where there is none, blocks are not taken in.
#pragma once

#include <cstdint>

#include "interpose/pool/address_map.hpp"
#include "interpose/pool/epochs.hpp"
#include "interpose/pool/options.hpp"
#include "interpose/pool/slab.hpp"
#include "interpose/pool/stats.hpp"
#include "interpose/pool/upstream.hpp"

namespace vramscope::pool {

enum class State : std::uint8_t {
    foreign, // this pool does not have it
    live,
    held,    // freed while pinned, and part of a segment: not for use, not for upstream
    pending, // freed, but not yet safe to hand out
    free,
};

// One cache line: a hit touches its own and little else.
struct Block {
    Address address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0;
    std::uint64_t mark = 0; // live: serial number. After its free: its stamp
    // cache: number of the last search before its free, which tells its age. split: of its class of
    // sizes, the block that was freed before it (SplitPolicy::last_freed_)
    std::uint64_t turn = 0;
    Index next = 0, previous = 0;
    Index left = 0, right = 0; // cache: in the tree of addresses. split: neighbours in the segment
    Index group = 0;           // cache: its size's group. split: its segment
    State state = State::foreign;
    Kind kind = kSmall;
    bool pinned = false;
};
static_assert(sizeof(Block) == 64);

struct Lookup {
    State state = State::foreign;
    Address address = 0;
    std::uint64_t bytes = 0, requested = 0;
    Address segment_address = 0;
    std::uint64_t segment_bytes = 0;
    std::uint64_t serial = 0; // the number of a live block's allocation in this pool
    bool pinned = false;
};

// A block as it was when it left the pool while live.
struct Detached {
    Address address;
    std::uint64_t bytes, requested, serial;
    bool pinned;
};

// A segment on its way back to upstream: the pool has forgotten it already.
struct Leaving {
    Address address;
    std::uint64_t bytes;
};

// The segment that a block lies in.
struct SegmentView {
    Address address;
    std::uint64_t bytes;
    Kind kind;
};

// Counters of what was allocated, freed and reserved. Each event calls one member.
struct Books {
    Tally allocations, allocated_bytes, requested_bytes;
    ActiveTally active{allocations}, active_bytes{allocated_bytes};
    Tally segments, reserved_bytes;
    Tally inactive_split, inactive_split_bytes;
    Tally oversize_allocations, oversize_segments;
    std::uint64_t least_oversize = kNoLimit;
    std::uint64_t most_allocated_bytes = 0;      // at once; reset_peaks() leaves it
    bool live_grew = false, active_grew = false; // since their peaks were noted

    Books() = default;
    Books(const Books&) = delete; // active refers to allocations
    Books& operator=(const Books&) = delete;

    void allocated(const Block& block) noexcept
    {
        allocations.add(block.kind, 1);
        allocated_bytes.add(block.kind, block.bytes);
        requested_bytes.add(block.kind, block.requested);
        live_grew = active_grew = true;
        if (block.bytes >= least_oversize) [[unlikely]]
            oversize_allocations.add(kLarge, 1);
    }
    // Still active: what is pending is.
    [[gnu::always_inline]] void freed(const Block& block) noexcept
    {
        if (live_grew) [[unlikely]]
            note_live();
        const Kind kind = block.kind; // the sums might be the block, as far as the compiler knows
        const std::uint64_t bytes = block.bytes, requested = block.requested;
        allocations.subtract_noted(kind, 1);
        allocated_bytes.subtract_noted(kind, bytes);
        requested_bytes.subtract_noted(kind, requested);
        if (bytes >= least_oversize) [[unlikely]]
            oversize_allocations.subtract(kLarge, 1);
    }
    void passed(Kind kind, std::uint64_t count, std::uint64_t bytes) noexcept
    {
        if (active_grew)
            note_active();
        passed_for_use(kind, count, bytes);
    }
    // The same of what is allocated at once, so that as much is active as before.
    void passed_for_use(Kind kind, std::uint64_t count, std::uint64_t bytes) noexcept
    {
        active.pass_noted(kind, count);
        active_bytes.pass_noted(kind, bytes);
    }
    void taken(Kind kind, std::uint64_t bytes) noexcept
    {
        segments.add(kind, 1);
        reserved_bytes.add(kind, bytes);
        if (bytes >= least_oversize)
            oversize_segments.add(kLarge, 1);
    }
    void left(Kind kind, std::uint64_t bytes) noexcept
    {
        segments.subtract(kind, 1);
        reserved_bytes.subtract(kind, bytes);
        if (bytes >= least_oversize)
            oversize_segments.subtract(kLarge, 1);
    }
    // A segment that left for another pool, which counts it as if it had always had it.
    void disown(Kind kind, std::uint64_t bytes) noexcept
    {
        segments.disown(kind, 1);
        reserved_bytes.disown(kind, bytes);
        if (bytes >= least_oversize)
            oversize_segments.disown(kLarge, 1);
    }

    std::uint64_t pending_bytes() const noexcept
    {
        return active_bytes.current() - allocated_bytes.current();
    }

    void reset_peaks() noexcept
    {
        for_each([](auto& tally) { tally.reset_peaks(); });
    }
    void forget() noexcept
    {
        note_live();
        for_each([](auto& tally) { tally.forget(); });
    }
    void fill(Stats& stats) const noexcept
    {
        stats.allocation = allocations.types();
        stats.segment = segments.types();
        stats.active = active.types();
        stats.inactive_split = inactive_split.types();
        stats.allocated_bytes = allocated_bytes.types();
        stats.reserved_bytes = reserved_bytes.types();
        stats.active_bytes = active_bytes.types();
        stats.inactive_split_bytes = inactive_split_bytes.types();
        stats.requested_bytes = requested_bytes.types();
        stats.oversize_allocations = oversize_allocations.types().all;
        stats.oversize_segments = oversize_segments.types().all;
        stats.pending_bytes = pending_bytes();
        stats.cached_bytes = reserved_bytes.current() - active_bytes.current();
    }

private:
    template <class Each>
    void for_each(Each each) noexcept
    {
        for (ActiveTally* tally : {&active, &active_bytes})
            each(*tally);
        for (Tally* tally :
             {&allocations, &allocated_bytes, &requested_bytes, &segments, &reserved_bytes,
              &inactive_split, &inactive_split_bytes, &oversize_allocations, &oversize_segments})
            each(*tally);
    }
    [[gnu::noinline]] void note_live() noexcept
    {
        for (Tally* tally : {&allocations, &allocated_bytes, &requested_bytes})
            tally->note_peaks();
        most_allocated_bytes = std::max(most_allocated_bytes, allocated_bytes.current());
        live_grew = false;
    }
    [[gnu::noinline]] void note_active() noexcept
    {
        active.note_peaks();
        active_bytes.note_peaks();
        active_grew = false;
    }
};

struct BlockTable {
    Slab<Block> blocks;
    AddressMap by_address; // has every block, whatever its state
    Books books;
    std::uint64_t serial = 0; // number of the last allocation
    std::uint64_t turn = 0;   // searches so far

    Block& operator[](Index index) noexcept { return blocks[index]; }
    const Block& operator[](Index index) const noexcept { return blocks[index]; }

    Index find(Address address) const noexcept
    {
        return by_address.find(address, [this](Index index) { return blocks[index].address; });
    }

    void make_live(Block& block, std::uint64_t requested) noexcept
    {
        block.state = State::live;
        block.requested = requested;
        block.mark = ++serial;
        books.allocated(block);
    }

    void clear() noexcept
    {
        blocks.clear();
        by_address.clear();
        books.forget();
    }
};

} // namespace vramscope::pool
