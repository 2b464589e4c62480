// report/page/processes.cpp — see processes.hpp.
#include "report/page/processes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/json/memory.hpp"
#include "report/json/sums.hpp"
#include "report/page/compositions.hpp"
#include "report/page/maps.hpp"
#include "report/page/tests.hpp"
#include "report/page/thin.hpp"

namespace vramscope::report {
namespace {

// A shorter list is of no use to a reader, and the page has room for it.
std::size_t share_of(std::size_t all, std::size_t parts)
{
    return std::max<std::size_t>(all / std::max<std::size_t>(parts, 1), 1);
}

Json moment_json(const MemoryMoment& moment)
{
    Json json = waterfall_json(moment.parts);
    json["ns"] = moment.ns;
    return json;
}

Json parts_json(const std::vector<PeakPart>& parts, const char* what, PageTables& tables)
{
    return tables.rows_of(parts, what, [&](const PeakPart& part) -> Json {
        return {{"name", tables.text(part.name)}, {"bytes", part.bytes}, {"blocks", part.blocks}};
    });
}

Json peak_json(const Peak& peak, PageTables& tables)
{
    return {{"bytes", peak.bytes},
            {"blocks", peak.blocks},
            {"stacks", tables.rows_of(peak.stacks, "call stacks at a peak",
                                      [&](const PeakStack& row) {
                                          return tables.with_call(
                                              {{"bytes", row.bytes},
                                               {"blocks", row.blocks},
                                               {"memory", tables.text(name(row.memory))},
                                               {"phase", tables.text(row.phase)}},
                                              row);
                                      })},
            {"more_stacks", peak.more_stacks},
            {"more_bytes", peak.more_bytes},
            {"more_blocks", peak.more_blocks},
            {"modules", parts_json(peak.modules, "modules at a peak", tables)},
            {"phases", parts_json(peak.phases, "ranges at a peak", tables)}};
}

Json churn_json(const ChurnReport& churn, PageTables& tables)
{
    return {{"allocations", churn.allocations},
            {"frees", churn.frees},
            {"allocated_bytes", churn.allocated_bytes},
            {"temporary", churn.temporary},
            {"short_lived", churn.short_lived},
            {"redundant", churn.redundant},
            {"driver_calls", churn.driver_calls},
            {"driver_ns", churn.driver_ns},
            {"sizes", tables.rows_of(churn.sizes, "sizes",
                                     [](const SizeBin& bin) -> Json {
                                         return {{"from_bytes", bin.from_bytes},
                                                 {"blocks", bin.blocks},
                                                 {"bytes", bin.bytes}};
                                     })},
            {"lifetimes",
             tables.rows_of(churn.lifetimes, "lifetimes",
                            [](const LifetimeBin& bin) -> Json {
                                return {{"below_ns", bin.below_ns}, {"blocks", bin.blocks}};
                            })},
            {"sites", tables.rows_of(churn.sites, "places that allocate",
                                     [&](const ChurnSite& site) {
                                         return tables.with_call(
                                             {{"allocations", site.allocations},
                                              {"frees", site.frees},
                                              {"bytes", site.allocated_bytes},
                                              {"redundant", site.redundant},
                                              {"temporary", site.temporary},
                                              {"short_lived", site.short_lived},
                                              {"device", ordinal_json(site.device)}},
                                             site);
                                     })},
            {"more_sites", churn.more_sites}};
}

// How much each device may have.
struct DeviceShare {
    std::size_t points;
    std::size_t pieces;
    std::size_t parts;
};

// At most kMostMaps of them: its peak, its end, and times at which it had too little memory.
std::vector<PageMap> maps_of(const Process& process, const std::vector<const Shortage*>& shortages,
                             const MemoryReport& device)
{
    constexpr const char* kPool = "the pool";
    std::vector<PageMap> maps;
    for (const PoolDevice& one : process.pool.devices) {
        if (one.device != device.device)
            continue;
        maps.push_back({"peak", kPool, &one.at_peak});
        maps.push_back({"end", kPool, &one.at_end});
    }
    for (const AllocatorMap& one : process.allocator_maps) {
        if (one.device == device.device && maps.size() < kMostMaps)
            maps.push_back({"end", one.allocator, &one.at_end});
    }
    for (const Shortage* const shortage : shortages) {
        if (shortage->device == device.device && !shortage->pieces.segments.empty() &&
            maps.size() < kMostMaps)
            maps.push_back(
                {"shortage", shortage->of_allocator ? shortage->api : kPool, &shortage->pieces});
    }
    return maps;
}

Json device_json(const Process& process, const MemoryReport& device,
                 const std::vector<const Shortage*>& shortages, const DeviceShare& share,
                 PageTables& tables)
{
    std::string about;
    for (const DeviceInfo& info : process.devices) {
        if (info.ordinal == device.device)
            about = info.name;
    }
    const std::vector<MemoryTime>& times = device.fine_timeline;
    return {{"device", ordinal_json(device.device)},
            {"name", tables.text(about)},
            {"total_bytes", device.total_bytes},
            {"pooled", device.pooled},
            {"at_peak", moment_json(device.at_peak)},
            {"at_reserved_peak", moment_json(device.at_reserved_peak)},
            {"at_end", moment_json(device.at_end)},
            {"peak", peak_json(device.peak, tables)},
            {"timeline", page_timeline(thinned(times, share.points))},
            {"compositions", page_compositions(device.compositions, share.parts, tables)},
            {"maps", page_maps(maps_of(process, shortages, device), share.pieces, tables)},
            {"advice", tables.rows_of(device.advice, "pieces of advice", [&](const Advice& row) {
                 return tables.with_call({{"kind", tables.text(name(row.kind))},
                                          {"saving", row.saving},
                                          {"blocks", row.blocks},
                                          {"bytes", row.bytes},
                                          {"phase", tables.text(row.phase)},
                                          {"other_phase", tables.text(row.other_phase)}},
                                         row);
             })}};
}

Json environment_json(const Process& process, PageTables& tables)
{
    return tables.rows_of(
        process.info, "facts of the environment",
        [&](const std::pair<std::string, std::string>& fact) -> Json {
            return {{"key", tables.text(fact.first)}, {"value", tables.text(fact.second)}};
        });
}

Json texts_json(const std::vector<std::string>& texts, const char* what, PageTables& tables)
{
    return tables.rows_of(texts, what, [&](const std::string& text) -> Json {
        return {{"text", tables.text(text)}};
    });
}

Json coverage_rows(const Process& process, PageTables& tables)
{
    Json coverage = coverage_json(process.coverage);
    coverage["entry_points_seen"] =
        texts_json(process.coverage.entry_points_seen, "entry points", tables);
    coverage["unknown_entry_points"] =
        texts_json(process.coverage.unknown_entry_points, "unknown entry points", tables);
    return coverage;
}

Json process_json(const Process& process, const std::vector<const Shortage*>& shortages,
                  const DeviceShare& share, PageTables& tables)
{
    Json devices = Json::array();
    for (const MemoryReport& device : process.memory)
        devices.push_back(device_json(process, device, shortages, share, tables));
    return {{"pid", process.pid},
            {"program", tables.text(process.program)},
            {"command", tables.text(process.command)},
            {"log", tables.text(process.log.string())},
            {"started", tables.text(process.started)},
            {"duration_ns", process.duration_ns},
            {"end", tables.text(describe(process.end))},
            {"step_name", tables.text(process.step_name)},
            {"step_count", process.step_count},
            {"threads", process.threads},
            {"totals", totals_json(process.totals)},
            {"marks", tables.rows_of(process.marks, "marks",
                                     [&](const Mark& mark) -> Json {
                                         return {{"ns", mark.ns}, {"name", tables.text(mark.name)}};
                                     })},
            {"mark_count", process.mark_count},
            {"pool", tables.text(process.pool.mode)},
            {"devices", devices},
            {"churn", churn_json(process.churn, tables)},
            {"shortage_count", process.shortage_count},
            {"tests", page_tests(process, tables)},
            {"test_count", process.test_count},
            {"crashed_in", texts_json(process.crashed_in, "frees that crashed", tables)},
            {"environment", environment_json(process, tables)},
            {"coverage", coverage_rows(process, tables)}};
}

} // namespace

Json page_timeline(const std::vector<MemoryTime>& times)
{
    Columns columns;
    for (const MemoryTime& time : times)
        columns.add({{"ns", time.ns},
                     {"allocated", time.allocated},
                     {"least", time.least_allocated},
                     {"peak", time.peak_allocated},
                     {"pending", time.active - std::min(time.active, time.allocated)},
                     {"reserved", time.reserved},
                     {"peak_reserved", time.peak_reserved},
                     {"used", or_null(time.used)}});
    return columns.take();
}

Json page_processes(const Report& report, PageTables& tables)
{
    std::size_t devices = 0;
    for (const Process& process : report.processes)
        devices += process.memory.size();
    const PageLimits& limits = tables.limits();
    const DeviceShare share{share_of(limits.points, devices), share_of(limits.pieces, devices),
                            share_of(limits.parts, devices)};
    const std::size_t shown = std::min(report.processes.size(), limits.processes);
    Json processes = Json::array();
    for (std::size_t at = 0; at < shown; ++at) {
        std::vector<const Shortage*> shortages;
        for (const Shortage& shortage : report.shortages) {
            if (shortage.process == at)
                shortages.push_back(&shortage);
        }
        processes.push_back(process_json(report.processes[at], shortages, share, tables));
    }
    if (shown < report.processes.size())
        tables.note_thinned(report.processes.size(), shown, "processes");
    return processes;
}

} // namespace vramscope::report
