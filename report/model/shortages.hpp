// report/model/shortages.hpp — allocations that failed for want of memory, and why.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/leaks.hpp"
#include "report/model/memory/mempool.hpp"
#include "report/model/memory/pool.hpp"
#include "report/model/memory/waterfall.hpp"

namespace vramscope::report {

// From which size on a request is no request but a mistake, a difference that became negative, say:
// more than any address of a process reaches.
inline constexpr std::uint64_t kImpossibleBytes = std::uint64_t{1} << 47;

// Why the memory was not enough. What the pool holds and does not use counts as free: it gave back
// what it could before the second try.
enum class ShortageKind {
    lacking,    // all free memory together was less than asked for
    fragmented, // there was enough free memory, but in no one piece
    cached,     // the pool held a piece that is large enough, and could not hand it out yet
    unknown,    // it is not known how much was free, or how much was asked for
    refused,    // enough was free in all; in which pieces, or for whom, nobody knows
    limited,    // a pool has a maximum, the driver's own or by a setting, and would have passed it
    impossible, // no device has so much: the size itself is wrong
};
template <>
struct Words<ShortageKind> {
    static constexpr format::Word<ShortageKind> kAll[] = {
        {ShortageKind::lacking, "lacking"},      {ShortageKind::fragmented, "fragmented"},
        {ShortageKind::cached, "cached"},        {ShortageKind::unknown, "unknown"},
        {ShortageKind::refused, "refused"},      {ShortageKind::limited, "limited"},
        {ShortageKind::impossible, "impossible"}};
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

// One of those that held the memory then: a part of a leak's members.
struct MemoryOwner {
    const Leak* leak;
};
template <>
struct Fields<MemoryOwner> {
    static constexpr const char* kName = "owner";
    static constexpr auto kAll =
        through(&MemoryOwner::leak, joined(
                                        FieldList{
                                            Field{"bytes", &Leak::bytes},
                                            Field{"blocks", &Leak::blocks},
                                            Field{"memory", &Leak::memory},
                                            Field{"api", &CallPlace::api},
                                            Field{"entry_point", &CallPlace::entry_point},
                                        },
                                        kStack));
};

struct Shortage : CallPlace, ShortageNumbers {
    std::uint64_t at_ns = 0;
    bool at_least = false; // `requested` is a lower bound: the driver pads such memory; 0: unknown
    bool pooled = false;   // else nothing is known of allocated, reserved and largest_gap
    // The driver's, and what the pool had and did not use.
    std::uint64_t free_in_all() const noexcept
    {
        const std::uint64_t unused = pooled ? reserved - std::min(reserved, allocated) : 0;
        return free + std::min(unused, UINT64_MAX - free);
    }
    ShortageKind kind = ShortageKind::unknown;
    std::uint64_t short_by = 0; // lacking: bytes; fragmented: bytes in one piece, 0: not known
    bool from_mempool = false;  // it asked one of the driver's own pools
    // "limit=16GiB": vramscope's own setting, with which the program has only so much of the
    // device; empty: there is none.
    std::string setting;
    std::uint64_t allowed = 0; // bytes that it allows
    std::string remedy;        // a setting with which it would have fitted; empty: none is known
    PoolMap pieces;            // the segments then; empty unless they were asked for
    // Of the blocks between free pieces, the call that made the most; none: not looked at.
    std::optional<PieceOwner> apart;
    std::vector<Mempool> mempools; // of this device, the one that kept the most first
    std::vector<Leak> owners;      // those that held the most of this device, largest first
    std::size_t process = 0;       // index into Report::processes

    // The pool that had no room for it below its maximum; null: there was none.
    const Mempool* full_mempool() const noexcept
    {
        for (const Mempool& pool : mempools)
            if (pool.maximum > 0 && requested > pool.maximum - std::min(pool.maximum, pool.used))
                return &pool;
        return nullptr;
    }
    // Told from sums: the pieces that the driver had are not known.
    bool estimated() const noexcept { return kind == ShortageKind::refused; }
    bool pieces_known() const noexcept { return pooled && owners_known; }
};
template <>
struct Fields<Shortage> {
    static constexpr const char* kName = "out_of_memory";
    static constexpr const char* kSays =
        "How the memory of a device stood when an allocation failed.";
    static constexpr auto pooled = &Shortage::pooled;
    static constexpr auto looked_at = &Shortage::pieces_known;
    static constexpr auto kAll = joined(
        FieldList{
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
            Field{"at_ns", &Shortage::at_ns},
            Field{"device", Ordinal{&Shortage::device}},
            Field{"requested_bytes", &Shortage::requested, "0: not known."},
            Field{
                "requested_at_least", &Shortage::at_least,
                "requested_bytes is a lower bound: the driver pads arrays and pitched memory, and "
                "of code, contexts and graphs nobody knows."}
                .since(6),
            Field{"free_bytes", When{&Shortage::free_known, &Shortage::free},
                  "As the driver says, as is total_bytes; null: it did not."},
            Field{"total_bytes", OrNull{&Shortage::total}},
            Field{"held_bytes", When{&Shortage::owners_known, &Shortage::held},
                  "By the program, of any device memory, as it asked for it; null: not looked at, "
                  "as owners."},
            Field{"allocated_bytes", When{pooled, &Shortage::allocated},
                  "Of the pool; null, as are reserved_bytes and largest_gap: there was no pool."},
            Field{"reserved_bytes", When{pooled, &Shortage::reserved}},
            Field{"largest_gap", When{pooled, &Shortage::largest_gap},
                  "The largest piece that the pool could still hand out."},
            Field{"retries", &Shortage::retries,
                  "Allocations of this device that were tried a second time, up to there."},
            Field{"waterfall", &Shortage::parts}.since(5),
            Field{"free_pieces", When{looked_at, &Shortage::free_pieces},
                  "Of the pool, at that moment; null: not looked at, as owners, or no pool."}
                .since(5),
            Field{"free_piece_bytes", When{looked_at, &Shortage::free_bytes}, "Of these together."}
                .since(5),
            Field{"unusable_index", When{looked_at, &Shortage::unusable},
                  "Part of these bytes in pieces that such requests cannot use."}
                .since(5)
                .at_least(0)
                .at_most(1),
            Field{"fragmentation_index", When{looked_at, &Shortage::fragmentation},
                  "0: what the pool had free was too little; towards 1: it was enough, in too many "
                  "pieces; -1: a piece was large enough."}
                .since(5)
                .at_most(1),
            Field{"map", OrNull{&Shortage::map},
                  "The segments one behind the other in 64 cells: # allocated, + in part, ~ freed "
                  "and not safe to reuse yet, . free."}
                .since(5),
            Field{
                "verdict", &Shortage::kind,
                "lacking: all that was free together was less than what was asked for. "
                "fragmented: it was enough, but in no one piece. cached: the pool held a piece "
                "that is large enough and could not hand it out yet. unknown: it is not known how "
                "much was free, or how much was asked for. refused: enough was free in all; in "
                "which pieces nobody knows. limited: a pool would have been above its maximum, "
                "one of the driver's or vramscope's by `setting`. impossible: no device has so "
                "much."},
            Field{"setting", OrNull{&Shortage::setting},
                  "vramscope's own, by which the program has only allowed_bytes of the device, as "
                  "limit=16GiB; null, as is allowed_bytes: there is none."}
                .since(6),
            Field{"allowed_bytes", OrNull{&Shortage::allowed}}.since(6),
            Field{"short_by", OrNull{&Shortage::short_by},
                  "lacking: bytes. fragmented: bytes that the largest piece was too small; null "
                  "where not known."},
            Field{"estimated", &Shortage::estimated,
                  "Of refused ones: told from sums, what pieces the driver had nobody knows."},
            Field{
                "owners", When{&Shortage::owners_known, each_as<MemoryOwner>(&Shortage::owners)},
                "Who held most of this device's memory, largest first; null: not looked at, as in "
                "a log of very many failures."}
                .rows_at_most(10),
            Field{"held_apart_by", &Shortage::apart,
                  "The call that made most of the blocks between free pieces; null: not looked at, "
                  "or there were none."}
                .since(6),
            Field{"mempools", &Shortage::mempools,
                  "The driver's own pools that had memory of this device; the one that kept the "
                  "most first."}
                .since(6),
            Field{"process", &Shortage::process, "Index into processes."},
        },
        kStack,
        FieldList{Field{"remedy", IfAny{&Shortage::remedy},
                        "A setting with which it would have fitted, where the log proves that."}
                      .since(6)
                      .not_empty()});
};

} // namespace vramscope::report
