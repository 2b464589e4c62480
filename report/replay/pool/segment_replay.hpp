// report/replay/pool/segment_replay.hpp — replays what the internal pool did.
//
// It knows how much was reserved, allocated, requested, active, pending and split at every moment.
//
// Feed it every record of a LogReader, in order. A log without a pool costs one comparison an
// event. Memory grows with segments and with the blocks that live, wait, or lived at the peak; not
// with events. Whatever the log says, reserved = allocated + pending + free holds.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/memory/pool_stats.hpp"
#include "report/replay/pool/pool_snapshot.hpp"
#include "report/replay/pool/pool_timeline.hpp"
#include "report/replay/pool/segments.hpp"
#include "report/replay/pool/waiting_blocks.hpp"

namespace vramscope::report {

// What the pool held on one device.
struct DevicePool {
    std::int32_t device = -1; // -1: not known
    PoolStats stats;
    PoolTimeline timeline;
    PoolHistory since_peak;
    bool changed = false; // since it was taken last
};

class SegmentReplay {
public:
    explicit SegmentReplay(const LogTables& tables) : tables_(tables) {}

    void apply(const Record& record)
    {
        if (record.tag == format::Tag::alloc) {
            if (record.pooled)
                allocate(record);
        } else if (record.tag == format::Tag::free) {
            if (!segments_.empty())
                free(record);
        } else {
            apply_rare(record);
        }
    }

    // Before apply(), for speed; of at most kMostAhead.
    void prefetch(std::span<const Record> soon) noexcept;

    // Whether the log has anything of a pool; else it is not known what was reserved.
    bool seen() const noexcept { return seen_; }
    const std::vector<DevicePool>& devices() const noexcept { return devices_; }
    std::size_t segments() const noexcept { return segments_.size(); }
    template <typename Visit>
    void for_each_segment(Visit visit) const // by address
    {
        segments_.for_each(visit);
    }
    const DevicePool* device(std::int32_t ordinal) const noexcept; // nullptr: none
    // Pooled allocations that lay in no segment that the log tells of.
    std::uint64_t outside() const noexcept { return outside_; }

    // Appends each device of which a number changed since the last call of this, as it is now.
    // `record`: the number of the one that changed it.
    void take_changes(std::uint32_t record, std::vector<PoolChange>& changes)
    {
        if (changed_.empty())
            return;
        for (const std::size_t device : changed_) {
            DevicePool& pool = devices_[device];
            pool.changed = false;
            changes.push_back({record, pool.device, pool.stats.bytes()});
        }
        changed_.clear();
    }

    auto state() noexcept // see report/checkpoint; when the changes were taken
    {
        return std::tie(segments_, devices_, device_of_context_, waiting_, pending_,
                        reusable_ticks_, serial_, outside_, own_synchronisations_, max_split_bytes_,
                        small_segment_bytes_, red_zone_bytes_, settings_read_, seen_);
    }
    bool rebuild();

    PoolSnapshot now(const DevicePool& device) const;
    PoolSnapshot at_peak(const DevicePool& device) const; // when the most was allocated

private:
    struct Found {
        Segment* segment = nullptr;
        PoolBlocks::Place place;
        PoolBlock* block = nullptr; // nullptr: none begins there
    };

    static Found find_in(Segment* segment, std::uint64_t address) noexcept;
    Found find_waiting(const WaitingBlock& waiting) noexcept; // without a block: it waits no longer
    void apply_rare(const Record& record);
    void add_segment(const Record& record);
    void drop(Segment& segment, std::uint64_t ticks);
    void drop_segment(const Record& record);
    void drop_context(const Record& record);
    // Flat: each of nearly all records of a pool's log goes through these.
    [[gnu::flatten]] void allocate(const Record& record);
    [[gnu::flatten]] void free(const Record& record);
    [[gnu::flatten]] void reuse(const Record& record);
    void prefetch(std::span<const WaitingBlock> next) noexcept;
    void leave(Segment& segment, const PoolBlocks::Place& place);
    void no_longer_allocated(PoolStats& stats, const Segment& segment,
                             const PoolBlock& block) const;
    void count_retry(const Record& record);
    void count_shortage(const Record& record);

    std::vector<const Segment*> segments_of(const DevicePool& device) const;
    std::size_t index_of(std::int64_t device);
    void read_settings();
    template <typename Change>
    void change(Segment& segment, std::uint64_t ticks, Change change);

    const LogTables& tables_;
    Segments segments_;
    std::vector<DevicePool> devices_;
    std::vector<std::size_t> changed_; // indexes into devices_
    std::unordered_map<std::int64_t, std::size_t> index_of_device_;
    std::unordered_map<std::uint64_t, std::int64_t> device_of_context_;
    WaitingBlocks waiting_;
    std::uint64_t pending_ = 0;        // blocks that do wait
    std::uint64_t reusable_ticks_ = 0; // what was freed by then may be handed out
    std::uint64_t serial_ = 0;
    std::uint64_t outside_ = 0;
    std::uint64_t own_synchronisations_ = 0;
    std::uint64_t max_split_bytes_ = UINT64_MAX;
    std::uint64_t small_segment_bytes_ = 1 << 20;
    std::uint64_t red_zone_bytes_ = 0;
    std::size_t settings_read_ = 0; // info records that were looked at
    bool seen_ = false;
};

} // namespace vramscope::report
