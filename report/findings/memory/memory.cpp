// report/findings/memory/memory.cpp — ticks to times, and what the pool's report has already.
#include "report/findings/memory/memory.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::report {
namespace {

MemoryMoment moment_of(const DeviceMemory::Moment& moment, const TickClock& clock)
{
    return {clock.ns(moment.ticks), moment.parts};
}

void add_pool(MemoryReport& device, const PoolReport& pool)
{
    for (const PoolDevice& pooled : pool.devices) {
        if (pooled.device != device.device)
            continue;
        device.pooled = pooled.stats.segment.all.allocated > 0;
        device.free_at_peak = pooled.at_peak.free;
        device.free_at_end = pooled.at_end.free;
    }
}

std::optional<Stat> active_of(const DeviceMemory::Allocator& allocator, const LogTables& tables)
{
    if (!allocator.pending || !tables.info_value("active.off").empty())
        return std::nullopt;
    const Stat& allocated = allocator.allocated; // a block is both from when it is handed out
    const std::uint64_t current = allocated.current + *allocator.pending;
    return Stat{.current = current,
                .peak = allocator.peak_active,
                .allocated = allocated.allocated,
                .freed = allocated.allocated - std::min(allocated.allocated, current)};
}

void add_retries(AllocatorMemory& allocator, std::uint64_t api, std::int32_t device,
                 const MemorySource& source)
{
    std::map<std::string, RetryPlace> places; // equal input, equal order
    for (const LoggedRetries& one : source.shortages.retries()) {
        if (one.api != api || one.device != device)
            continue;
        CallPlace read = source.log.stacks.read(one.api, one.stack, one.first_ticks);
        const auto [found, added] = places.try_emplace(read.key());
        RetryPlace& place = found->second;
        if (added)
            static_cast<CallPlace&>(place) = std::move(read);
        place.retries += one.retries;
        place.most_requested = std::max(place.most_requested, one.most_requested);
        allocator.retries += one.retries;
    }
    for (auto& [key, place] : places)
        allocator.retried_at.push_back(std::move(place));
    std::stable_sort(
        allocator.retried_at.begin(), allocator.retried_at.end(),
        [](const RetryPlace& a, const RetryPlace& b) { return a.retries > b.retries; });
}

void add_mempools(MemoryReport& device, const DeviceMemory::Device& memory,
                  const MemorySource& source)
{
    for (const DeviceMemory::Mempool& pool : memory.mempools) {
        const Pools::FirstUse* const first =
            source.heap.mempools().first_use(memory.ordinal, pool.handle);
        const auto at = [&](const DeviceMemory::MempoolMoment& moment) {
            return mempool_of({pool.handle, moment.reserved, moment.used, pool.maximum,
                               moment.ticks, first ? *first : Pools::FirstUse{}},
                              source.log);
        };
        device.mempools.push_back(at(pool.peak));
        device.mempools_at_end.push_back(at(pool.last));
    }
    sort_by_kept(device.mempools);
    sort_by_kept(device.mempools_at_end);
}

void add_holders(MemoryReport& device, const std::vector<PeakHolding>& holdings,
                 const MemorySource& source)
{
    std::vector<SiteShare> at_peak;
    for (const PeakHolding& holding : holdings)
        at_peak.push_back({holding.site, holding.bytes, holding.blocks});
    const std::string cache = device.allocators.size() == 1 ? device.allocators.front().name : "";
    device.holders_at_peak =
        find_holders(std::move(at_peak), device.at_peak.parts, cache, source.heap, source.log);
    device.holders_at_end = find_holders(live_shares(source.heap.sites(), device.device),
                                         device.at_end.parts, cache, source.heap, source.log);
}

std::uint64_t total_of(const DeviceMemory::Device& memory, const LogTables& tables)
{
    for (const LoggedDevice& known : tables.devices()) {
        if (known.ordinal == memory.ordinal && memory.total == 0)
            return known.bytes;
    }
    return memory.total;
}

MemoryReport report_of_device(const DeviceMemory::Device& memory,
                              const std::vector<PeakHolding>& holdings,
                              const std::vector<RepeatedPairs>& pairs, const MemorySource& source)
{
    const TickClock& clock = source.log.clock;
    MemoryReport device;
    device.device = memory.ordinal;
    device.total_bytes = total_of(memory, source.log.tables);
    device.at_peak = moment_of(memory.peak, clock);
    device.at_reserved_peak = moment_of(memory.reserved_peak, clock);
    device.at_end = {source.log.duration_ns, source.memory.now(memory)};
    for (const DeviceMemory::MarkMoment& mark : memory.marks)
        device.at_marks.push_back({moment_of(mark, clock), mark.mark});
    add_pool(device, source.pool);
    device.peak_direct = memory.peak_direct;
    device.requested = memory.requested;
    device.blocks = memory.blocks;
    for (const DeviceMemory::Allocator& one : memory.allocators) {
        AllocatorMemory& allocator = device.allocators.emplace_back();
        allocator.name = source.log.tables.apis()[one.api].name;
        allocator.reserved = one.reserved;
        allocator.allocated = one.allocated;
        allocator.blocks = one.blocks;
        allocator.active = active_of(one, source.log.tables);
        add_retries(allocator, one.api, memory.ordinal, source);
    }
    add_mempools(device, memory, source);
    device.timeline = times_of(memory.timeline.points(kReportPoints), clock);
    device.fine_timeline = times_of(memory.timeline.points(), clock);
    add_holders(device, holdings, source);
    device.peak = find_peak(holdings, source.heap, source.log);
    device.compositions =
        find_compositions(source.span_peaks, SpanPeaks::place_of_device(memory.index),
                          source.heap.sites(), source.log);
    device.advice = find_advice(holdings, pairs, source.heap, source.log);
    return device;
}

} // namespace

Mempool mempool_of(const LoggedMempool& logged, const LeakSource& source)
{
    Mempool pool;
    if (logged.first.ticks != 0)
        static_cast<CallPlace&>(pool) =
            source.stacks.read(logged.first.api, logged.first.stack, logged.first.ticks);
    pool.handle = logged.handle;
    pool.ns = source.clock.ns(logged.ticks);
    pool.reserved = logged.reserved;
    pool.used = logged.used;
    pool.maximum = logged.maximum;
    return pool;
}

void sort_by_kept(std::vector<Mempool>& pools)
{
    std::stable_sort(pools.begin(), pools.end(),
                     [](const Mempool& a, const Mempool& b) { return a.kept() > b.kept(); });
}

std::vector<MemoryTime> times_of(const std::vector<PoolPoint>& points, const TickClock& clock)
{
    std::vector<MemoryTime> times;
    for (const PoolPoint& point : points)
        times.push_back({point, clock.ns(point.ticks)});
    return times;
}

std::vector<MemoryReport> describe_memory(const MemorySource& source)
{
    const auto holdings = source.holders.at_peaks();
    const auto pairs = source.holders.repeated_pairs();
    std::vector<MemoryReport> devices;
    for (const DeviceMemory::Device& memory : source.memory.devices()) {
        if (memory.requested.allocated > 0 || memory.total > 0 ||
            memory.reserved_peak.parts.reserved > 0)
            devices.push_back(
                report_of_device(memory, holdings[memory.index], pairs[memory.index], source));
    }
    std::sort(devices.begin(), devices.end(),
              [](const MemoryReport& a, const MemoryReport& b) { return a.device < b.device; });
    return devices;
}

} // namespace vramscope::report
