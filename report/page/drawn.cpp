// report/page/drawn.cpp — see drawn.hpp.
#include "report/page/drawn.hpp"

#include <algorithm>

#include "report/page/compositions.hpp"
#include "report/page/maps.hpp"
#include "report/page/thin.hpp"

namespace vramscope::report {
namespace {

// A shorter list is of no use to a reader, and the page has room for it.
std::size_t share_of(std::size_t all, std::size_t parts)
{
    return std::max<std::size_t>(all / std::max<std::size_t>(parts, 1), 1);
}

// At most kMostMaps of them: its peak, its end, and times at which it had too little memory.
std::vector<PageMap> maps_of(const Report& report, std::size_t process, const MemoryReport& device)
{
    constexpr const char* kPool = "the pool";
    std::vector<PageMap> maps;
    for (const PoolDevice& one : report.processes[process].pool.devices) {
        if (one.device != device.device)
            continue;
        maps.push_back({"peak", kPool, &one.at_peak});
        maps.push_back({"end", kPool, &one.at_end});
    }
    for (const AllocatorMap& one : report.processes[process].allocator_maps) {
        if (one.device == device.device && maps.size() < kMostMaps)
            maps.push_back({"end", one.allocator, &one.at_end});
    }
    for (const Shortage& shortage : report.shortages) {
        if (shortage.process == process && shortage.device == device.device &&
            !shortage.pieces.segments.empty() && maps.size() < kMostMaps)
            maps.push_back(
                {"shortage", shortage.of_allocator ? shortage.api : kPool, &shortage.pieces});
    }
    return maps;
}

std::size_t devices_of(const Report& report)
{
    std::size_t devices = 0;
    for (const Process& process : report.processes)
        devices += process.memory.size();
    return devices;
}

std::size_t hosts_of(const Report& report)
{
    return static_cast<std::size_t>(
        std::count_if(report.processes.begin(), report.processes.end(),
                      [](const Process& process) { return !process.host.moments.empty(); }));
}

} // namespace

Json timeline_json(const std::vector<MemoryTime>& times)
{
    Json json = Json::object();
    for (const MemoryTime& time : times) {
        json["ns"].push_back(time.ns);
        json["allocated"].push_back(time.allocated);
        json["least"].push_back(time.least_allocated);
        json["peak"].push_back(time.peak_allocated);
        json["pending"].push_back(time.active - std::min(time.active, time.allocated));
        json["reserved"].push_back(time.reserved);
        json["peak_reserved"].push_back(time.peak_reserved);
        json["used"].push_back(time.used ? Json(*time.used) : Json(nullptr));
    }
    return json;
}

Json drawn_json(const Report& report, const PageLimits& limits)
{
    const std::size_t devices = devices_of(report);
    const std::size_t places = devices + hosts_of(report);
    Json processes = Json::array();
    for (std::size_t at = 0; at < std::min(report.processes.size(), limits.processes); ++at) {
        Json& drawn = processes.emplace_back(Json::array());
        for (const MemoryReport& device : report.processes[at].memory)
            drawn.push_back({{"timeline", timeline_json(thinned(device.fine_timeline,
                                                                share_of(limits.points, devices)))},
                             {"compositions",
                              compositions_json(device.compositions, share_of(limits.parts, places),
                                                share_of(limits.lives, places))},
                             {"maps", maps_json(maps_of(report, at, device),
                                                share_of(limits.pieces, devices), limits.rows)}});
    }
    return processes;
}

Json host_json(const Report& report, const PageLimits& limits)
{
    const std::size_t places = devices_of(report) + hosts_of(report);
    Json processes = Json::array();
    for (std::size_t at = 0; at < std::min(report.processes.size(), limits.processes); ++at)
        processes.push_back(compositions_json(report.processes[at].host,
                                              share_of(limits.parts, places),
                                              share_of(limits.lives, places)));
    return processes;
}

} // namespace vramscope::report
