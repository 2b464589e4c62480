// report/plan/trace/trace_watch.hpp — blocks' births and frees become a trace's requests.
//
// A watch of HeapReplay. It is told of every record of a log: by `before` when HeapReplay is about
// to replay it, and by `after` when it has. Where an allocator of the program's cut blocks from
// what it took of the driver, the blocks are the requests, what they were cut from is none, and all
// else is taken beside. Else what the driver gives by address is asked for (cuMemAlloc, served by
// vramscope's pool or not, and stream-ordered memory); arrays and physical memory are taken beside.
// Managed memory need not be on the device, and is left out. Memory: that of the traces, and of
// live blocks.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/plan/trace/start_places.hpp"
#include "report/plan/trace/start_state.hpp"
#include "report/plan/trace/trace.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/heap/cut_memory.hpp"
#include "report/replay/lookup/flat_map.hpp"
#include "report/replay/lookup/random_seed.hpp"
#include "report/replay/memory.hpp"

namespace vramscope::report::plan {

// A request that the program made and did not get. It is in the trace, given back at once.
struct FailedRequest {
    BlockId block = 0;
    std::uint64_t api = 0;
    std::uint64_t stack = 0;
    std::uint64_t ticks = 0;
};

// The driver said how much of the device was used.
struct UsedSample {
    std::uint64_t used = 0;     // bytes, by all processes
    std::uint64_t reserved = 0; // by the log
    std::size_t requests = 0;   // how many there were before
};

// What is to be known of a trace beside its requests.
struct TraceFacts {
    std::vector<FailedRequest> failed;
    std::uint64_t peak_live = 0;      // bytes that were asked for and not given back, at most
    std::size_t peak_request = 0;     // index of the one that made it, for the first time
    std::uint64_t peak_beside = 0;    // bytes taken beside, at most
    std::uint64_t stream_ordered = 0; // requests of cuMemAllocAsync and its like
    std::uint64_t unseen_frees = 0;   // blocks that left without a free in the log
    std::vector<UsedSample> used;     // at most kMostSamples, over all of the log
    std::uint64_t managed = 0;        // blocks of managed memory, left out
    std::uint64_t synchronisations = 0;
    std::uint64_t streams = 0;
};

class TraceWatch final : public BlockWatch {
public:
    static constexpr std::size_t kMostSamples = 64;
    static constexpr SiteId kNoSite = UINT32_MAX; // of a request that failed

    struct DeviceTrace {
        Trace trace;
        TraceFacts facts;

    private:
        friend class TraceWatch;
        std::uint64_t live = 0;
        std::uint64_t beside = 0;
        std::uint64_t samples = 0; // all of them
        std::uint64_t stride = 1;  // so many are one that is kept
        StartPlaces places;
        std::unordered_map<std::uint64_t, std::uint16_t> streams; // keyed by handle
        std::unordered_map<std::uint64_t, std::uint8_t> pools;
        bool gave_back = false; // segments, and not because a request had failed
        bool short_of = false;  // the driver refused, and nothing was got since
    };

    // `cut`: the log has blocks that an allocator of the program's cut. The others outlive this.
    // `start_ticks`: of the log's header; what an imported log has of that time was there before.
    TraceWatch(LogTables& tables, const Sites& sites, const DeviceMemory& memory, bool cut,
               std::uint64_t start_ticks)
        : tables_(tables), sites_(sites), memory_(memory), cut_(cut), start_ticks_(start_ticks)
    {
    }

    void before(const Record& record) { record_ = &record; }
    void after(const Record& record)
    {
        if (!is_hot(record.tag))
            note_rare(record);
    }

    // Behind the last record of the start, with the segments that are there then.
    void settle_start(const std::vector<AllocatorSegment>& segments);

    // In the order of their first requests.
    std::deque<DeviceTrace>& devices() noexcept { return devices_; }
    const std::deque<DeviceTrace>& devices() const noexcept { return devices_; }

    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override { leave(block, ticks); }
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

private:
    // A block that is alive, and where it is among those of its site.
    struct Place {
        BlockId block = 0;
        std::uint32_t place = 0;
    };
    struct Live {
        std::uint64_t key = 0;
        std::uint64_t bytes = 0;
    };

    // A block that queued work of another stream uses when the program gives it back.
    struct Waiting {
        DeviceTrace* of = nullptr; // null: it was not given back yet
        BlockId block = 0;
    };

    std::uint64_t key_of(const Block& block) const noexcept;
    bool is_request(format::Memory memory) const noexcept;
    DeviceTrace& trace_of(std::int64_t device);
    BlockId add_block(DeviceTrace& to, SiteId site);
    void push(DeviceTrace& to, const Request& request);
    static void note_live(DeviceTrace& to, std::uint64_t bytes);
    bool is_from_before(const Block& block) const;
    void leave(const Block& block, std::uint64_t ticks);
    void give_back(const Site& site, BlockId block, std::uint64_t bytes, std::uint64_t ticks,
                   Waiting* waiting);
    void forget(std::uint64_t key, SiteId site, std::uint64_t ticks, Waiting* waiting = nullptr);
    void note_waiting(const format::Awaited& block, std::uint64_t ticks);
    void note_rare(const Record& record);
    void note_failure(const Record& record, const format::OutOfMemory& failure);
    void note_used(const format::DeviceMemory& said);
    void synchronise(std::uint64_t ticks);
    void empty_caches(std::uint64_t ticks);
    static std::uint16_t stream_of(DeviceTrace& to, std::uint64_t handle);
    static std::uint8_t pool_of(DeviceTrace& to, std::uint64_t handle);

    LogTables& tables_;
    const Sites& sites_;
    const DeviceMemory& memory_;
    bool cut_;
    std::uint64_t start_ticks_;
    const Record* record_ = nullptr; // that HeapReplay has now
    std::deque<DeviceTrace> devices_;
    FlatMap<Place> places_;
    std::vector<std::vector<Live>> live_;                // by site
    std::unordered_map<std::uint64_t, Waiting> waiting_; // by address
    StartState start_;
    // By thread: the stack of its last call that failed.
    std::unordered_map<std::uint32_t, std::uint64_t> failed_stack_;
    std::uint64_t seed_ = random_seed() | 1;
};

} // namespace vramscope::report::plan
