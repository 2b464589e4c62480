// report/read/heap_replay.hpp — replays a log: which blocks are alive, and what became of those
// that were lost.
//
// Feed it every record of a LogReader, in order, then finish(). Blocks are found by (KeySpace,
// address). Those that die with their context, and those that are left at the end, are summed up
// per stack: memory grows with live blocks, not with events, and a block costs one slot of a flat
// table.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "report/read/flat_map.hpp"
#include "report/read/log_tables.hpp"
#include "report/read/lost_blocks.hpp"
#include "report/read/phases.hpp"
#include "report/read/physical_memory.hpp"

namespace vramscope::report {

struct FailedCall {
    std::uint64_t api = 0;
    std::uint64_t result = 0;
    std::uint64_t bytes = 0;
};

// Sums over the run. Device memory: device, pitched, managed, async, array, mipmap, physical. Host
// memory: pinned, registered. Reservations and a graph's own memory are in neither.
struct ReplayCounts {
    std::uint64_t events = 0;
    std::uint64_t allocations = 0;        // of any kind
    std::uint64_t frees = 0;              // that met their block
    std::uint64_t memory_allocations = 0; // of device and host memory
    std::uint64_t memory_frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t peak_host_bytes = 0;
    std::uint64_t unmatched_frees = 0;
    std::uint64_t missed_frees = 0;
    std::uint64_t graph_allocations = 0;
    std::uint64_t failed_calls = 0;
    std::uint64_t undefined_events = 0; // of an entry point that the log does not define
    std::uint64_t last_ticks = 0;
};

class HeapReplay {
public:
    // `exit_began_ticks`: as in the file header. `find_api` is asked once, when an event names an
    // entry point that was not defined yet: it may define more in the tables.
    HeapReplay(LogTables& tables, std::uint64_t exit_began_ticks,
               std::function<void()> find_apis = {});

    void apply(const Record& record);
    void finish();

    // Every block that is alive now: at any time, between two records.
    template <typename Visit>
    void for_each_alive(Visit visit)
    {
        live_.for_each([&](std::uint64_t, const Block& block) {
            if (!is_dead(block))
                visit(block);
        });
        physical_.for_each([&](const Block& block) { visit(block); });
    }

    const ReplayCounts& counts() const noexcept { return counts_; }
    const FailedCall& first_failed_call() const noexcept { return first_failed_; }
    std::vector<LostBlocks> lost() const { return lost_.sums(); } // after finish()

private:
    // A context dies in one step however many blocks it has: it starts a new life, and its blocks
    // are known to be dead by the number of theirs.
    struct Context {
        std::uint32_t life = 0;
        std::uint64_t device_bytes = 0; // of its live blocks that die with it
        std::uint64_t host_bytes = 0;
        std::uint64_t blocks = 0;
        std::uint32_t first_life_ended_by_exit = UINT32_MAX;
    };
    Api* seen_api(const Record& record);
    Api* api_of(const Record& record);
    void allocate(const Record& record, format::Memory memory);
    void free(const Record& record, format::Memory memory);
    void free_physical(std::uint64_t handle);
    void destroy_context(const Record& record);
    void map(const Record& record);
    void unmap(const Record& record);
    void retain(const Record& record);
    void note_failure(const Record& record);

    Block make_block(const Record& record, format::Memory memory);
    std::uint32_t context_index(std::uint64_t id);
    bool is_dead(const Block& block) const noexcept;
    bool went_with_context(const Block& block) const noexcept;
    Fate fate_of(const Block& block) const noexcept;
    void replace(Block& occupant, Block successor);
    void enter(const Block& block);
    void leave(const Block& block);
    void finish_block(const Block& block);
    void sweep();

    LogTables& tables_;
    std::uint64_t exit_began_ticks_;
    std::function<void()> find_apis_;
    Phases phases_;
    FlatMap<Block> live_;
    PhysicalMemory<Block> physical_;
    std::vector<Context> contexts_;
    std::unordered_map<std::uint64_t, std::uint32_t> context_of_id_;
    LostSums lost_{phases_};
    ReplayCounts counts_;
    FailedCall first_failed_;
    std::uint64_t device_bytes_ = 0; // alive now
    std::uint64_t host_bytes_ = 0;
    std::uint64_t dead_blocks_ = 0; // still in live_, their context is gone
};

} // namespace vramscope::report
