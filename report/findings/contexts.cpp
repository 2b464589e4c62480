// report/findings/contexts.cpp — each context with what its sites allocated, and which are stray.
#include "report/replay/contexts.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/timed_calls.hpp"
#include "report/log/device_ordinal.hpp"

namespace vramscope::report {
namespace {

// Where free memory was asked for before and after; where only after, what is in use is the most
// that it can have taken.
std::optional<ContextBytes> taken_by(const LoggedContext::Opened& opened)
{
    if (opened.free_before > opened.free_after) {
        const std::uint64_t fell = opened.free_before - opened.free_after;
        return ContextBytes{fell - std::min(fell, kDriverStep), fell + kDriverStep};
    }
    if (opened.free_before == 0 && opened.total > opened.free_after)
        return ContextBytes{0, opened.total - opened.free_after};
    return std::nullopt;
}

bool is_work(format::Memory memory)
{
    return class_of(memory) != format::MemoryClass::host &&
           driver_takes(memory) != format::DriverTakes::for_context;
}

void add_what_was_done(ContextRow& row, const Sites& sites, std::uint32_t context)
{
    for (const Site& site : sites.all()) {
        if (site.context != context || site.memory == format::Memory::context)
            continue; // that one is the context itself
        const bool elsewhere = site.device >= 0 && row.device >= 0 && site.device != row.device;
        if (elsewhere && !is_object(site.memory))
            continue; // the call names its device, whatever context is current
        (is_object(site.memory) ? row.objects : row.allocations) += site.allocations;
        row.is_worked_in = row.is_worked_in || is_work(site.memory);
        if (class_of(site.memory) == format::MemoryClass::host)
            row.host_allocations += site.allocations;
        if (is_own_memory(site.memory))
            row.allocated_bytes += site.allocated_bytes;
    }
}

void add_opening(ContextRow& row, const LoggedContext::Opened& opened, const LogTables& tables,
                 const CallSource& calls)
{
    static_cast<TimedCall&>(row) = read_call(opened.call, calls);
    row.opening = opened.opening;
    LoggedThread thread = tables.thread(opened.thread);
    row.thread = {.tid = thread.tid, .name = std::move(thread.name)};
    row.bytes = taken_by(opened);
}

// Where the process has anything but host memory, by what is known of the place of each of its
// sites; -1: there is one of which nothing is known.
std::set<std::int32_t> devices_worked_on(const Sites& sites)
{
    std::set<std::int32_t> devices;
    for (const Site& site : sites.all())
        if (is_work(site.memory))
            devices.insert(site.device);
    return devices;
}

void mark_strays(std::vector<ContextRow>& rows, const Sites& sites)
{
    std::set<std::int32_t> devices = devices_worked_on(sites);
    for (const ContextRow& row : rows)
        if (row.is_worked_in)
            devices.insert(row.device);
    if (devices.empty() || devices.contains(-1))
        return;
    for (ContextRow& row : rows)
        row.stray = row.is_opened() && row.device >= 0 && !devices.contains(row.device);
}

} // namespace

std::vector<ContextRow> find_contexts(const Contexts& contexts, const HeapReplay& heap,
                                      const LogTables& tables, const CallSource& source)
{
    std::vector<ContextRow> rows;
    for (const auto& [id, logged] : contexts.all()) {
        ContextRow row;
        row.id = id;
        row.device = device_ordinal(logged.device);
        row.primary = logged.primary;
        row.process = source.process;
        if (logged.opened)
            add_opening(row, *logged.opened, tables, source);
        if (logged.ended)
            row.ended = read_call(*logged.ended, source);
        if (const auto number = heap.context_number(id))
            add_what_was_done(row, heap.sites(), *number);
        rows.push_back(std::move(row));
    }
    mark_strays(rows, heap.sites());
    return rows;
}

void count_devices(Process& process, const std::vector<ContextRow>& contexts)
{
    std::set<std::int32_t> devices;
    for (const ContextRow& row : contexts)
        devices.insert(row.device);
    process.has_context_of_no_device = devices.erase(-1) > 0;
    process.context_devices = devices.size();
}

} // namespace vramscope::report
