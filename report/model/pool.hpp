// report/model/pool.hpp — what the internal pool held, device by device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/pool_stats.hpp"
#include "report/model/waterfall.hpp"

namespace vramscope::report {

enum class BlockState : std::uint8_t {
    active_allocated,
    active_pending_free, // freed, not to be handed out yet
    inactive,
};

inline constexpr std::uint32_t kNoOwner = UINT32_MAX;

struct BlockPiece {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0; // 0 if inactive
    BlockState state = BlockState::inactive;
    std::uint32_t owner = kNoOwner; // index into PoolMap::owners
};

struct SegmentPieces {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0; // id of its record
    bool small = false;
    std::vector<BlockPiece> blocks; // all of it, without a hole
};

// What one place of the program had in a map, freed and pending blocks too.
struct PieceOwner : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

// A moment's segments, the first of them if there are very many.
struct PoolMap {
    std::uint64_t ns = 0;
    std::uint64_t largest_gap = 0;
    FreePieces free; // the free pieces of all segments
    std::vector<SegmentPieces> segments;
    std::uint64_t segments_left_out = 0;
    std::vector<PieceOwner> owners; // the largest first; empty unless they were asked for
};

struct PoolDevice {
    std::int32_t device = -1; // -1: not known
    PoolStats stats;
    std::vector<MemoryTime> timeline; // what the pool had; without `used`
    PoolMap at_peak;                  // when the most was allocated, for the first time
    PoolMap at_end;
};

// Of an allocator of the program's own, as PyTorch's: what it cut its segments into.
struct AllocatorMap {
    std::string allocator;
    std::int32_t device = -1; // -1: not known
    PoolMap at_end;
};

struct PoolReport {
    // "cache", "split", "off"; empty: the log does not say.
    std::string mode;
    std::vector<std::pair<std::string, std::string>> settings; // without "pool." before the names
    bool known = false;              // the log has segments; else reserved memory is not known
    std::vector<PoolDevice> devices; // sorted by ordinal; empty if not known
    std::uint64_t outside = 0;       // pooled allocations in no segment that the log tells of
};

// How many blocks of a map are kept in a report.
inline constexpr std::size_t kMostPieces = 5000;

// The word of PyTorch's snapshots: "active_allocated".
const char* name(BlockState state) noexcept;

// `width` cells for the bytes of all segments one behind the other: '#' allocated, '+' in part,
// '~' freed and not safe to reuse, '.' free.
std::string segment_cells(const std::vector<SegmentPieces>& segments, std::size_t width);

} // namespace vramscope::report
