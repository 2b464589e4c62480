// report/findings/pool.cpp — the replay of segments becomes rows and maps of bounded length.
#include "report/findings/pool.hpp"

#include <algorithm>
#include <string_view>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

PoolMap map_of(PoolSnapshot&& snapshot, const RequestSizes& requests, std::uint64_t ns)
{
    PoolMap map;
    map.ns = ns;
    map.free = free_pieces(PieceSizes(snapshot), requests);
    map.largest_gap = map.free.largest;
    std::size_t pieces = 0;
    std::size_t kept = 0;
    for (; kept < snapshot.segments.size(); ++kept) {
        pieces += snapshot.segments[kept].blocks.size();
        if (pieces > kMostPieces)
            break;
    }
    map.segments_left_out = snapshot.segments.size() - kept;
    snapshot.segments.resize(kept);
    map.segments = std::move(snapshot.segments);
    return map;
}

PoolDevice describe_device(const SegmentReplay& replay, const DeviceMemory& memory,
                           const DevicePool& pool, const TickClock& clock, std::uint64_t end_ns)
{
    const DeviceMemory::Device* const known = memory.device(pool.device);
    const RequestSizes requests = known ? known->requests : RequestSizes();
    PoolDevice device;
    device.device = pool.device;
    device.stats = pool.stats;
    device.timeline = times_of(pool.timeline.points(kReportPoints), clock);
    PoolSnapshot peak = replay.at_peak(pool);
    const std::uint64_t peak_ns = clock.ns(peak.ticks);
    device.at_peak = map_of(std::move(peak), requests, peak_ns);
    device.at_end = map_of(replay.now(pool), requests, end_ns);
    return device;
}

} // namespace

PoolReport describe_pool(const SegmentReplay& replay, const DeviceMemory& memory,
                         const LogTables& tables, const TickClock& clock, std::uint64_t end_ns)
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
        report.devices.push_back(describe_device(replay, memory, pool, clock, end_ns));
    std::sort(report.devices.begin(), report.devices.end(),
              [](const PoolDevice& a, const PoolDevice& b) { return a.device < b.device; });
    return report;
}

} // namespace vramscope::report
