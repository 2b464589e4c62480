// report/model/memory/pool.hpp — what the internal pool held, device by device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/memory/pool_stats.hpp"
#include "report/model/memory/waterfall.hpp"

namespace vramscope::report {

enum class BlockState : std::uint8_t {
    active_allocated,
    active_pending_free, // freed, not to be handed out yet
    inactive,
};
template <>
struct Words<BlockState> { // PyTorch's
    static constexpr format::Word<BlockState> kAll[] = {
        {BlockState::active_allocated, "active_allocated"},
        {BlockState::active_pending_free, "active_pending_free"},
        {BlockState::inactive, "inactive"},
    };
};

inline constexpr std::uint32_t kNoOwner = UINT32_MAX;

struct BlockPiece {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t requested = 0; // 0 if inactive
    BlockState state = BlockState::inactive;
    std::uint32_t owner = kNoOwner; // index into PoolMap::owners
};
template <>
struct Fields<BlockPiece> {
    static constexpr const char* kName = "pool_block";
    static constexpr FieldList kAll{
        Field{"address", Hex{&BlockPiece::address}},
        Field{"size", &BlockPiece::bytes},
        Field{"requested_size", &BlockPiece::requested},
        Field{"state", &BlockPiece::state},
    };
};

struct SegmentPieces {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t context = 0; // id of its record
    bool small = false;
    std::vector<BlockPiece> blocks; // all of it, without a hole

    std::uint64_t allocated_bytes() const;
    std::uint64_t active_bytes() const; // allocated and pending
    std::uint64_t requested_bytes() const;
    format::BlockSize size() const
    {
        return small ? format::BlockSize::small : format::BlockSize::large;
    }
};
template <>
struct Fields<SegmentPieces> {
    static constexpr const char* kName = "pool_segment";
    static constexpr FieldList kAll{
        Field{"address", Hex{&SegmentPieces::address}},
        Field{"total_size", &SegmentPieces::bytes},
        Field{"allocated_size", &SegmentPieces::allocated_bytes},
        Field{"active_size", &SegmentPieces::active_bytes},
        Field{"requested_size", &SegmentPieces::requested_bytes},
        Field{"segment_type", &SegmentPieces::size}.never("unknown"),
        Field{"context", OrNull{&SegmentPieces::context}, "Its number in the log."},
        Field{"blocks", OnRequest{&SegmentPieces::blocks},
              "Only with --pool-blocks: up to 5000 at each moment; before 1.6 always."},
    };
};

// What one place of the program had in a map, freed and pending blocks too.
struct PieceOwner : CallPlace {
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};

template <>
struct Fields<PieceOwner> {
    static constexpr const char* kName = "piece_owner";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"bytes", &PieceOwner::bytes},
            Field{"blocks", &PieceOwner::blocks},
            Field{"api", &CallPlace::api},
            Field{"entry_point", &CallPlace::entry_point},
        },
        kStack);
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
template <>
struct Fields<PoolMap> {
    static constexpr const char* kName = "pool_map";
    static constexpr const char* kSays = "Segments and blocks at one moment, in order of address, "
                                         "in the shape of PyTorch's snapshots.";
    static constexpr FieldList kAll{
        Field{"ns", &PoolMap::ns},
        Field{"largest_gap", &PoolMap::largest_gap, "Of all segments, those left out too."},
        Field{"segments", &PoolMap::segments},
        Field{"segments_left_out", &PoolMap::segments_left_out,
              "Behind those that are here: a map has at most 5000 blocks."},
    };
};

struct PoolDevice {
    std::int32_t device = -1; // -1: not known
    PoolStats stats;
    std::vector<MemoryTime> timeline; // what the pool had; without `used`
    PoolMap at_peak;                  // when the most was allocated, for the first time
    PoolMap at_end;
};
template <>
struct Fields<PoolDevice> {
    static constexpr const char* kName = "pool_device";
    static constexpr FieldList kAll{
        Field{"device", Ordinal{&PoolDevice::device}},
        Field{"memory_stats", Keyed{Via{&PoolDevice::stats, &PoolStats::named}},
              "Keys and meanings of torch.cuda.memory_stats(). num_sync_all_streams: "
              "synchronisations that the pool made, of the whole process. Of segments that went "
              "with their context num_device_free knows nothing."},
        Field{"timeline", each_as<PoolTime>(&PoolDevice::timeline),
              "Spans of time one behind the other; where nothing happened there is none."}
            .rows_at_most(256),
        Field{"at_peak", &PoolDevice::at_peak,
              "When allocated_bytes was at its peak for the first time."},
        Field{"at_end", &PoolDevice::at_end},
    };
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

    bool is_told_of() const noexcept { return known || !mode.empty(); }
};
template <>
struct Fields<PoolReport> {
    static constexpr const char* kName = "pool";
    static constexpr const char* kSays = "What the pool between the program and the driver held.";
    static constexpr FieldList kAll{
        Field{"mode", OrNull{&PoolReport::mode}, "cache, split or off."},
        Field{"settings", Keyed{&PoolReport::settings},
              "sync, and those of the pool's settings that were set."},
        Field{"known", &PoolReport::known,
              "false: the log tells of no segment, so nothing is known of reserved memory, and "
              "devices is empty."},
        Field{"devices", &PoolReport::devices},
        Field{"allocations_outside_segments", &PoolReport::outside,
              "Of the pool, but in no segment that the log tells of: in no number here."},
    };
};

// How many blocks of a map are kept in a report.
inline constexpr std::size_t kMostPieces = 5000;

// `width` cells for the bytes of all segments one behind the other: '#' allocated, '+' in part,
// '~' freed and not safe to reuse, '.' free.
std::string segment_cells(const std::vector<SegmentPieces>& segments, std::size_t width);

} // namespace vramscope::report
