// report/model/shortages.hpp — allocations that failed for want of memory, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/leaks.hpp"
#include "report/model/pool.hpp"
#include "report/model/waterfall.hpp"

namespace vramscope::report {

// Why the memory was not enough. What the pool holds and does not use counts as free: it gave back
// what it could before the second try.
enum class ShortageKind {
    lacking,    // all free memory together was less than asked for
    fragmented, // there was enough free memory, but in no one piece
    cached,     // the pool held a piece that is large enough, and could not hand it out yet
    unknown,    // it is not known how much was free, or how much was asked for
};

// How the memory of the device stood then.
struct ShortageNumbers {
    std::int32_t device = -1;    // -1: not known
    std::uint64_t requested = 0; // by the allocation that failed
    std::uint64_t free = 0;
    std::uint64_t total = 0; // 0: the driver did not tell
    // The recording of another tool may tell what was free, and not of how much.
    bool free_known() const noexcept { return total > 0 || free > 0; }
    std::uint64_t allocated = 0; // what the pool had allocated
    std::uint64_t reserved = 0;
    std::uint64_t largest_gap = 0;
    std::uint64_t retries = 0; // retries on this device up to there
    bool of_allocator = false; // of the program's; what is said of the pool is its own then
    bool owners_known = false; // false: there was no walk over the live blocks
    std::uint64_t held = 0;    // what the program had of this device then, pooled or not
    Waterfall parts;           // what the device's memory was made of, by the log
    // Of the pool's free pieces, if the owners are known: what of them such requests cannot use,
    // and whether there is too little (0), or enough in too many pieces (1; -1: it would fit).
    std::uint64_t free_bytes = 0;
    std::uint64_t free_pieces = 0;
    double unusable = 1;
    double fragmentation = 0;
    std::string map; // of the segments: see segment_cells(); empty: there were none
};

struct Shortage : CallPlace, ShortageNumbers {
    std::uint64_t at_ns = 0;
    bool at_least = false; // `requested` is a lower bound: the driver pads such memory; 0: unknown
    bool pooled = false;   // else nothing is known of allocated, reserved and largest_gap
    ShortageKind kind = ShortageKind::unknown;
    std::uint64_t short_by = 0; // lacking: bytes; fragmented: bytes in one piece, 0: not known
    std::string remedy;         // a setting with which it would have fitted; empty: none is known
    bool estimated = false;     // told from sums: the pieces that the driver had are not known
    PoolMap pieces;             // the segments then; empty unless they were asked for
    std::vector<Leak> owners;   // those that held the most of this device, largest first
    std::size_t process = 0;    // index into Report::processes
};

// The word of the JSON report.
const char* name(ShortageKind kind) noexcept;

} // namespace vramscope::report
