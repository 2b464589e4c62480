// report/replay/heap/heap_replay.hpp — which blocks are alive, and what became of the others.
//
// Feed it every record of a LogReader, in order, then finish(). Blocks are found by (KeySpace,
// address). Those that die with their context, and those that are left at the end, are summed up
// per stack. So memory grows with live blocks, not with events; a block costs one slot of a table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/log/mempools.hpp"
#include "report/model/counts.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/cut_memory.hpp"
#include "report/replay/heap/failed_calls.hpp"
#include "report/replay/heap/live_blocks.hpp"
#include "report/replay/heap/live_sums.hpp"
#include "report/replay/heap/lost_blocks.hpp"
#include "report/replay/heap/phases.hpp"
#include "report/replay/heap/physical_memory.hpp"
#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

struct ReplayCounts : EventCounts {
    MemoryCounts memory;
    std::uint64_t last_ticks = 0;

    auto state() noexcept { return std::tie(static_cast<EventCounts&>(*this), memory, last_ticks); }
};

// A block whose free was in flight when the process ended: perhaps free, perhaps not.
struct BlockInFlight {
    PendingFree free;
    Block block;
};

class HeapReplay {
public:
    // `exit_began_ticks`: as in the file header.
    HeapReplay(LogTables& tables, std::uint64_t exit_began_ticks)
        : tables_(tables), sums_(exit_began_ticks)
    {
    }

    // lost() then has no blocks from before. Call it before the first record.
    void list_since(std::uint64_t ticks) { lost_.list_since(ticks); }

    // Takes what a first reading found. Call it before the first record.
    void expect_segments(SegmentBirths births)
    {
        births_ = std::move(births);
        cutting_ = cutting_ || !births_.empty();
    }
    // Those that were not expected.
    const SegmentBirths& segment_births() const noexcept { return segment_births_; }
    // In place of apply(), for who asks for no more than segment_births(): takes the allocation of
    // a block that an allocator cut, and what it is cut from is a segment. The block itself is not
    // kept, so its free need not be told.
    void note_cut(const Record& record);

    // The watch is told of what happens from now on, and must outlive this. There is one at most;
    // EachWatch tells several.
    void watch(BlockWatch& watch) { watch_ = &watch; }

    // Takes the frees that the log says were in flight at its end. Call it before the first record.
    void expect(const std::vector<PendingFree>& pending);
    // Flat, without what is rare: nearly all records of a log go through it.
    [[gnu::flatten]] void apply(const Record& record);
    // Before apply(), for speed: see prefetch_ahead().
    [[gnu::flatten, gnu::noinline]] void prefetch(std::span<const Record> soon);
    void finish();

    // Every block of memory that is alive now: at any time, between two records.
    template <typename Visit>
    void for_each_alive(Visit visit)
    {
        live_.for_each([&](const Block& block) {
            if (is_own_memory(block.memory) && !sums_.is_dead(block))
                visit(block);
        });
        physical_.for_each([&](const Block& block) {
            if (is_own_memory(block.memory))
                visit(block);
        });
    }

    // By what physical memory may be known: its handle (with 0 bytes), and where it is mapped. The
    // blocks are those that for_each_alive() visits.
    template <typename Visit>
    void for_each_physical_name(Visit visit) const
    {
        physical_.for_each_handle(
            [&](std::uint64_t handle, const Block& block) { visit(handle, 0, block); });
        physical_.for_each_mapping(visit);
    }
    // All physical memory of the device, with what its allocators never used.
    std::uint64_t physical_bytes(std::int32_t device)
    {
        std::uint64_t bytes = 0;
        physical_.for_each(
            [&](const Block& block) { bytes += block.device == device ? block.bytes : 0; });
        return bytes;
    }
    template <typename Visit>
    void for_each_reservation(Visit visit)
    {
        live_.for_each([&](const Block& block) {
            if (block.memory == format::Memory::reservation)
                visit(block);
        });
    }

    // Of every context that was seen, and of every object that is alive now; and what it is.
    template <typename Visit>
    void for_each_handle(Visit visit)
    {
        for (const auto& [context, handle] : context_handles_)
            visit(handle, format::Memory::context);
        live_.for_each([&](const Block& block) {
            if (format::is_object(block.memory))
                visit(block.address, block.memory);
        });
    }

    // Whether there are such allocators.
    bool is_cut() const noexcept { return cutting_; }
    // What the program's allocators have now, and cut their blocks from. A walk over all blocks.
    std::vector<AllocatorSegment> segments_now();

    ReplayCounts counts() const;
    const Sites& sites() const noexcept { return sites_; }
    const Phases& phases() const noexcept { return phases_; }
    // The one that Site::context has for a context of the log; none: it has no site.
    std::optional<std::uint32_t> context_number(std::uint64_t id) const { return sums_.find(id); }
    const FailedCalls& failed_calls() const noexcept { return failed_calls_; }
    const Pools& mempools() const noexcept { return pools_; }
    // Both: after finish().
    std::vector<LostBlocks> lost() const { return lost_.sums(); }
    const std::vector<BlockInFlight>& in_flight() const noexcept { return in_flight_; }

    auto state() noexcept
    {
        return std::tie(phases_, sums_, sites_, live_, physical_, pools_, context_handles_,
                        cutting_, allocations_, names_, mappings_, lost_, counts_, failed_calls_);
    } // see report/checkpoint
    bool rebuild();

private:
    // Addresses stay below 2^57, so the space fits above them.
    static std::uint64_t key_of(format::Memory memory, std::uint64_t address) noexcept
    {
        return address ^ static_cast<std::uint64_t>(format::key_space(memory)) << 59;
    }

    void prefetch_site(SiteId site) const;
    [[gnu::noinline]] void apply_rare(const Record& record);
    void note_use(const Record& record);
    Api* api_of(const Record& record);
    void allocate(const Record& record, format::Memory memory);
    [[gnu::noinline]] void allocate_physical(const Block& block, std::uint64_t handle);
    void free(const Record& record, format::Memory memory);
    [[gnu::noinline]] void free_physical(const Record& record);
    void destroy_context(const Record& record);
    void map(const Record& record);
    void unmap(const Record& record);
    void share(const Record& record);
    void note_refused_piece(const Record& record);
    void note_unused(const Record& release);
    void end_physical(const Block& block, std::uint64_t ticks);

    void look_up_birth(Block& block) const;
    static void make_segment(Block& block, std::uint16_t allocator);
    void begin_cutting();
    [[gnu::noinline]] void cut(Block& block);
    void cut_from(const format::CutFrom& memory, std::uint64_t ticks);
    void find_parent(Block& block);
    void become_segment(Block& parent, const Block& first);
    [[gnu::noinline]] void end_blocks(std::uint64_t begin, std::uint64_t bytes,
                                      std::optional<std::uint64_t> api, std::uint64_t ticks);

    void name_block(const Record& record);
    void forget_name_before(const Block& freed);
    const std::string& name_of(const Block& block) const;

    Block make_block(const Record& record, format::Memory memory);
    format::Memory memory_of_mempool(const Record& record);
    bool went_with_context(const Block& block) const noexcept;
    [[gnu::noinline]] void replace(std::uint64_t key, Block& occupant, Block successor);
    bool take_pending(std::uint64_t key, std::uint64_t after, std::uint64_t before);
    void enter(const Block& block);
    void finish_freed(const Block& block, std::uint64_t ticks);
    void finish_gone(const Block& block, std::uint64_t ticks);
    void count_free(const Block& block);
    void lose(const Block& block);
    void sweep();
    void leave_in_flight();

    LogTables& tables_;
    Phases phases_;
    LiveSums sums_;
    Sites sites_;
    BlockWatch* watch_ = nullptr;
    LiveBlocks live_;
    PhysicalMemory<Block> physical_;
    Pools pools_;
    std::unordered_map<std::uint64_t, std::uint64_t> context_handles_; // keyed by context id
    std::unordered_multimap<std::uint64_t, PendingFree> pending_;      // keyed by key_of()
    SegmentBirths births_;                                             // known from a first reading
    SegmentBirths segment_births_;                                     // found in this one
    std::unordered_map<std::uint64_t, std::uint64_t> unmapped_; // by handle: when it was made
    struct RefusedPiece {
        std::uint32_t thread = 0; // index
        std::uint64_t ticks = 0;  // 0: none was refused
    };
    RefusedPiece refused_piece_; // the last one
    bool cutting_ = false;       // the log has suballocated blocks: these are kept
    AddressRanges allocations_;  // of the driver's; some may be dead
    struct BlockName {
        std::uint64_t ticks = 0; // a block that came later has it no more
        std::uint64_t api = 0;
        std::string name;
    };
    std::unordered_map<std::uint64_t, BlockName> names_; // of suballocated blocks, by address
    AddressRanges mappings_; // of memory that is not known to be a segment
    LostSums lost_{phases_};
    ReplayCounts counts_;
    FailedCalls failed_calls_;
    std::vector<BlockInFlight> in_flight_;
};

} // namespace vramscope::report
