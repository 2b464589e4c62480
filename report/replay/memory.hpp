// report/replay/memory.hpp — where the memory of each device was, at every moment.
//
// What the program has, in the pool and past it, what else the pool holds, and what the driver
// counts as used.
//
// A watch of HeapReplay. Feed it every record behind HeapReplay, with what that changed in the
// pool. What the program has and the pool does not know of is *direct*: so the parts add up at
// every moment, whatever the log says. One step for each event; memory grows with devices.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/log/device_ordinal.hpp"
#include "report/log/log_tables.hpp"
#include "report/model/memory/pool_stats.hpp"
#include "report/model/memory/waterfall.hpp"
#include "report/replay/heap/block_watch.hpp"
#include "report/replay/pool/pool_timeline.hpp"
#include "report/replay/request_sizes.hpp"
#include "report/replay/taken_by_driver.hpp"

namespace vramscope::report {

class DeviceMemory final : public BlockWatch {
public:
    static constexpr std::size_t kMostMarks = 64;

    struct Moment {
        std::uint64_t ticks = 0;
        Waterfall parts;
    };
    // What an allocator of the program's has: its segments, and the blocks that it cut from them.
    struct Allocator {
        std::uint16_t api = 0; // of its blocks
        Stat reserved;
        Stat allocated;
        Stat blocks;
        // Bytes that were given back to it and that another stream still uses; empty: not known.
        std::optional<std::uint64_t> pending;
        std::uint64_t peak_active = 0; // of allocated and pending bytes together, if that is known

        void note_active()
        {
            peak_active = std::max(peak_active, allocated.current + pending.value_or(0));
        }
    };
    // What one of the driver's own pools held at one moment.
    struct MempoolMoment {
        std::uint64_t ticks = 0;
        std::uint64_t reserved = 0;
        std::uint64_t used = 0;

        std::uint64_t kept() const noexcept { return reserved - std::min(reserved, used); }
    };
    struct Mempool {
        std::uint64_t handle = 0;  // 0: the device's default pool
        std::uint64_t maximum = 0; // 0: none
        MempoolMoment peak;        // when it kept the most that it had not given out
        MempoolMoment last;
    };
    struct MarkMoment : Moment {
        std::string mark;
        auto state() noexcept { return std::tie(ticks, parts, mark); }
    };
    struct Device {
        std::size_t index = 0;     // in devices()
        std::int32_t ordinal = -1; // -1: not known
        Stat requested;            // bytes of the program's device memory, pooled or not
        Stat blocks;
        std::uint64_t peak_direct = 0;
        std::uint64_t total = 0; // as the driver says; 0: it was not asked
        Moment peak;             // the first at which the most was allocated
        Moment reserved_peak;    // with the block that the most was reserved for, if there is one
        std::uint64_t recent_peak = 0; // the most allocated since restart_recent_peaks()
        std::uint64_t peaks = 0;       // how often more was allocated than ever before
        std::vector<MarkMoment> marks;
        PoolTimeline timeline;
        RequestSizes requests; // requests that the pool served, as it rounded them
        std::vector<Allocator> allocators;
        std::vector<Mempool> mempools;

        auto state() noexcept
        {
            return std::tie(index, ordinal, requested, blocks, peak_direct, total, peak,
                            reserved_peak, recent_peak, peaks, marks, timeline, requests,
                            allocators, mempools, pool, segment_bytes, suballocated_bytes, sampled,
                            at_reserved_peak, unattributed, contexts, objects, last_reserved,
                            reserved_ticks);
        }

    private:
        friend class DeviceMemory;
        PoolBytes pool;
        std::uint64_t segment_bytes = 0;      // of allocators
        std::uint64_t suballocated_bytes = 0; // the part of `requested` that lies in them
        bool sampled = false;
        bool at_reserved_peak = false; // and what it was reserved for has not come yet
        std::uint64_t unattributed = 0;
        std::uint64_t contexts = 0; // as TakenByDriver has it, and the next
        std::uint64_t objects = 0;
        std::uint64_t last_reserved = 0;
        std::uint64_t reserved_ticks = 0; // when that changed
        bool changed = false;
        Device* next_changed = nullptr; // if it is changed; nullptr: it is the last
    };

    // Both outlive this.
    DeviceMemory(const LogTables& tables, const Sites& sites) : tables_(tables), sites_(sites) {}

    void apply(const Record& record, std::span<const PoolChange> changes);

    const std::deque<Device>& devices() const noexcept { return devices_; }
    const Device* device(std::int32_t ordinal) const noexcept // nullptr: nothing is known of it
    {
        return of_ordinal_[static_cast<std::size_t>(device_ordinal(ordinal) + 1)];
    }
    // What is the most of a part of the program begins here.
    void restart_recent_peaks() noexcept;
    // Between any two records.
    static Waterfall now(const Device& device) noexcept;
    const TakenByDriver& taken() const noexcept { return taken_; }

    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override;
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

    auto state() noexcept
    {
        return std::tie(devices_, marks_, awaited_, taken_);
    } // see report/checkpoint
    bool rebuild();

private:
    Device& device_of(std::int64_t logged)
    {
        const auto at = static_cast<std::size_t>(device_ordinal(logged) + 1);
        return of_ordinal_[at] ? *of_ordinal_[at] : add_device(at);
    }
    [[gnu::noinline]] Device& add_device(std::size_t at); // index into of_ordinal_
    void touch(Device& device)
    {
        if (!device.changed)
            device.next_changed = std::exchange(changed_, &device);
        device.changed = true;
    }
    static std::uint64_t kept_of(const Device& device) noexcept
    {
        return device.segment_bytes - std::min(device.segment_bytes, device.suballocated_bytes);
    }
    static std::uint64_t direct_of(const Device& device) noexcept
    {
        const std::uint64_t taken = device.requested.current + kept_of(device);
        return taken - std::min(taken, device.pool.requested);
    }
    static Allocator& allocator_of(Device& device, std::uint16_t api);
    // False: it is neither memory of a device nor what is cut.
    bool leave(const Site& site, std::uint64_t bytes, std::uint64_t blocks);
    [[gnu::noinline]] void apply_rare(const Record& record);
    void update(Device& device, std::uint64_t ticks);
    void sample(std::uint64_t ticks, const format::DeviceMemory& said);
    void measured(std::uint64_t ticks, const format::ObjectMemory& said);
    void take_over(std::int64_t ordinal); // what is taken there
    void note_mempool(std::uint64_t ticks, const format::MempoolMemory& said);
    bool limited() const;
    void mark(std::uint64_t ticks, std::string_view name);
    void note_given_back(const Block& block);
    void note_ready(std::uint64_t address);

    // A block that queued work still uses when the program gives it back.
    struct AwaitedBlock {
        std::int16_t device = -1;
        std::uint16_t api = 0;
        std::uint64_t bytes = 0; // 0: it was not given back yet
    };

    const LogTables& tables_;
    const Sites& sites_;
    std::deque<Device> devices_;                          // never moved: they are pointed to
    std::array<Device*, kMostOrdinals + 1> of_ordinal_{}; // -1 and up; nullptr: none
    Device* changed_ = nullptr; // the first of those that the record changed
    std::size_t marks_ = 0;
    TakenByDriver taken_;
    std::map<std::uint64_t, AwaitedBlock> awaited_; // by address
};

} // namespace vramscope::report
