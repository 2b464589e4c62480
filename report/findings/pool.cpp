// report/findings/pool.cpp — the replay of segments becomes rows and maps of bounded length.
#include <algorithm>
#include <string_view>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/memory/memory.hpp"
#include "report/replay/pool/piece_sizes.hpp"
#include "report/replay/request_sizes.hpp"

namespace vramscope::report {
namespace {

// What the pool could have handed out, and how little of it is of use.
FreePieces free_pieces(const PieceSizes& free, const RequestSizes& requests)
{
    return {.bytes = free.bytes(),
            .pieces = free.pieces(),
            .largest = free.largest(),
            .largest_request = requests.largest(),
            .unusable_for_largest = free.unusable_for(requests.largest()),
            .unusable_mean =
                requests.mean([&free](std::uint64_t size) { return free.unusable_for(size); })};
}

PoolMap map_with_gaps(PoolSnapshot&& snapshot, const RequestSizes& requests, std::uint64_t ns,
                      StackReader* stacks)
{
    const FreePieces free = free_pieces(PieceSizes(snapshot), requests);
    PoolMap map = map_of(std::move(snapshot), ns, stacks);
    map.free = free;
    map.largest_gap = free.largest;
    return map;
}

PoolDevice describe_device(const SegmentReplay& replay, const DeviceMemory& memory,
                           const DevicePool& pool, const TickClock& clock, std::uint64_t end_ns,
                           StackReader* stacks)
{
    const DeviceMemory::Device* const known = memory.device(pool.device);
    const RequestSizes requests = known ? known->requests : RequestSizes();
    PoolDevice device;
    device.device = pool.device;
    device.stats = pool.stats;
    device.timeline = times_of(pool.timeline.points(kReportPoints), clock);
    PoolSnapshot peak = replay.at_peak(pool);
    const std::uint64_t peak_ns = clock.ns(peak.ticks);
    device.at_peak = map_with_gaps(std::move(peak), requests, peak_ns, stacks);
    device.at_end = map_with_gaps(replay.now(pool), requests, end_ns, stacks);
    return device;
}

} // namespace

PoolReport describe_pool(const SegmentReplay& replay, const DeviceMemory& memory,
                         const LogTables& tables, const TickClock& clock, std::uint64_t end_ns,
                         StackReader* stacks)
{
    constexpr std::string_view kPrefix = "pool.";
    PoolReport report;
    report.known = replay.seen();
    report.outside = replay.outside();
    for (const auto& [key, value] : tables.info()) {
        if (key == "pool.mode")
            report.mode = value;
        else if (key.starts_with(kPrefix))
            report.settings.emplace_back(key.substr(kPrefix.size()), value);
    }
    if (!report.known)
        return report;
    for (const DevicePool& pool : replay.devices())
        report.devices.push_back(describe_device(replay, memory, pool, clock, end_ns, stacks));
    std::sort(report.devices.begin(), report.devices.end(),
              [](const PoolDevice& a, const PoolDevice& b) { return a.device < b.device; });
    return report;
}

std::vector<AllocatorMap> describe_allocators(HeapReplay& heap, const DeviceMemory& memory,
                                              std::uint64_t end_ns, StackReader& stacks)
{
    std::vector<AllocatorMap> maps;
    for (AllocatorPieces& one : allocators_now(heap)) {
        const DeviceMemory::Device* const known = memory.device(one.device);
        AllocatorMap& map = maps.emplace_back();
        map.allocator = stacks.read(one.api, 0, 0).api;
        map.device = one.device;
        map.at_end = map_with_gaps(std::move(one.pieces), known ? known->requests : RequestSizes(),
                                   end_ns, &stacks);
    }
    return maps;
}

} // namespace vramscope::report
