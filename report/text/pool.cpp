// report/text/pool.cpp — the rows of PyTorch's memory_summary(), and segments as cells.
#include "report/model/memory/pool.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostTables = 4; // for all processes together; --json has the others

struct CounterRow {
    const char* name;
    PoolStat PoolStats::*stat;
    bool bytes;
    bool of_splits = false; // not shown where nothing was ever split
};

constexpr CounterRow kCounterRows[] = {
    {"allocated memory", &PoolStats::allocated_bytes, true},
    {"active memory", &PoolStats::active_bytes, true},
    {"requested memory", &PoolStats::requested_bytes, true},
    {"reserved memory", &PoolStats::reserved_bytes, true},
    {"non-releasable memory", &PoolStats::inactive_split_bytes, true, true},
    {"allocations", &PoolStats::allocation, false},
    {"active allocations", &PoolStats::active, false},
    {"reserved segments", &PoolStats::segment, false},
    {"non-releasable pieces", &PoolStats::inactive_split, false, true},
};

void write_row(std::ostream& out, const char* name, const Stat& stat, bool bytes)
{
    const auto cell = [bytes](std::uint64_t value) {
        return bytes ? human_bytes(value) : grouped(value);
    };
    out << fmt::format("  {:<22} {:>12} {:>12} {:>12} {:>12}\n", name, cell(stat.current),
                       cell(stat.peak), cell(stat.allocated), cell(stat.freed));
}

void write_map(TextOutput& out, const char* when, const PoolMap& map)
{
    constexpr std::size_t kMostCells = 64;
    const std::string head = fmt::format("  {:<7} ", when);
    if (map.segments.empty()) {
        out.stream() << head << "nothing was reserved\n";
        return;
    }
    std::uint64_t bytes = 0;
    for (const SegmentPieces& segment : map.segments)
        bytes += segment.bytes;
    out.stream() << head << '['
                 << segment_cells(map.segments, std::min(kMostCells, out.width() - 12)) << "]\n";
    std::string text =
        fmt::format("at {}: {} in {}, largest gap {}", human_time(map.ns), human_bytes(bytes),
                    counted(map.segments.size(), "segment"), human_bytes(map.largest_gap));
    if (map.segments_left_out > 0)
        text += fmt::format("; {} not shown", counted(map.segments_left_out, "more segment"));
    out.wrapped("", std::string(head.size(), ' '), text);
}

void write_counts(TextOutput& out, const PoolStats& stats)
{
    const std::uint64_t served = stats.allocation.all.allocated;
    const std::uint64_t cached = served - std::min(served, stats.num_device_alloc);
    std::string text =
        fmt::format("{}, {} without the driver; driver: {}, {}, {}", counted(served, "allocation"),
                    grouped(cached), counted(stats.num_device_alloc, "allocation"),
                    counted(stats.num_device_free, "free"),
                    counted(stats.num_sync_all_streams, "synchronisation"));
    if (stats.num_alloc_retries > 0)
        text += stats.num_alloc_retries == 1
                    ? ", 1 retry"
                    : fmt::format(", {} retries", grouped(stats.num_alloc_retries));
    if (stats.num_ooms > 0)
        text += fmt::format(", out of memory {}",
                            stats.num_ooms == 1 ? "once" : grouped(stats.num_ooms) + " times");
    out.wrapped("", "  ", text);
}

void write_title(TextOutput& out, const char* what, std::int32_t device, const std::string& name)
{
    const std::string title =
        fmt::format("{} on {}{}{}", what, device_name(device), name.empty() ? "" : ", ", name);
    constexpr std::size_t kRoom = 24;
    out.stream() << '\n'
                 << out.painted(title, "1")
                 << (title.size() < kRoom ? std::string(kRoom - title.size(), ' ')
                                          : '\n' + std::string(kRoom, ' '))
                 << fmt::format(" {:>12} {:>12} {:>12} {:>12}\n", "cur usage", "peak usage",
                                "tot alloc", "tot freed");
}

// What the program took past the pool: all that it has, without what the pool gave it.
void write_direct(TextOutput& out, const MemoryReport& memory, const PoolStats& pool)
{
    if (memory.peak_direct == 0)
        return;
    const auto beyond = [](std::uint64_t all, std::uint64_t pooled) {
        return all - std::min(all, pooled);
    };
    const Stat& pooled = pool.requested_bytes.all;
    write_row(out.stream(), "past the pool",
              {.current = beyond(memory.requested.current, pooled.current),
               .peak = memory.peak_direct,
               .allocated = beyond(memory.requested.allocated, pooled.allocated),
               .freed = beyond(memory.requested.freed, pooled.freed)},
              true);
}

void write_pool(TextOutput& out, const PoolDevice& device, const MemoryReport* memory)
{
    const PoolStats& stats = device.stats;
    for (const CounterRow& row : kCounterRows) {
        const Stat& stat = (stats.*row.stat).all;
        if (!row.of_splits || stat.allocated > 0)
            write_row(out.stream(), row.name, stat, row.bytes);
    }
    if (stats.oversize_segments.allocated + stats.oversize_allocations.allocated > 0) {
        write_row(out.stream(), "oversize allocations", stats.oversize_allocations, false);
        write_row(out.stream(), "oversize segments", stats.oversize_segments, false);
    }
    if (memory)
        write_direct(out, *memory, stats);
    write_counts(out, stats);
    write_maps(out, device);
    const std::uint64_t kept = stats.reserved_bytes.all.current - stats.allocated_bytes.all.current;
    if (kept > 0)
        out.wrapped("", "  ",
                    fmt::format("cached at the end: {}, which is no leak", human_bytes(kept)));
}

const MemoryReport* memory_of(const Process& process, std::int32_t device)
{
    for (const MemoryReport& memory : process.memory) {
        if (memory.device == device)
            return &memory;
    }
    return nullptr;
}

bool in_pool(const Process& process, std::int32_t device)
{
    return std::any_of(process.pool.devices.begin(), process.pool.devices.end(),
                       [device](const PoolDevice& one) { return one.device == device; });
}

// The tables of a process's pool, then those of devices that the pool does not know.
void write_process(TextOutput& out, const Process& process, std::size_t& shown,
                   const std::string& name)
{
    for (const PoolDevice& device : process.pool.devices) {
        if (shown++ >= kMostTables)
            continue;
        write_title(out, "Pool", device.device, name);
        write_pool(out, device, memory_of(process, device.device));
    }
    for (const MemoryReport& memory : process.memory) {
        if (in_pool(process, memory.device) || shown++ >= kMostTables)
            continue;
        write_title(out, "Memory", memory.device, name);
        write_row(out.stream(), "allocated memory", memory.requested, true);
        write_row(out.stream(), "allocations", memory.blocks, false);
    }
    if (process.pool.outside > 0)
        out.wrapped("", "  ",
                    fmt::format("{} lay in no segment that the log tells of, and are in no number "
                                "of the pool",
                                counted(process.pool.outside, "pooled allocation")));
}

} // namespace

std::string pool_line(const PoolReport& pool)
{
    std::string line = terminal_safe(pool.mode);
    for (const auto& [key, value] : pool.settings)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", terminal_safe(key),
                            terminal_safe(value));
    if (pool.known)
        return line.empty() ? "how it was set is not known" : line;
    if (line.empty())
        return {};
    return line + (pool.mode == "off" ? "; what the driver reserves beyond blocks is not known"
                                      : "; nothing was taken through it");
}

void write_maps(TextOutput& out, const PoolDevice& device)
{
    write_map(out, "at peak", device.at_peak);
    write_map(out, "at end", device.at_end);
}

void write_map_legend(TextOutput& out)
{
    out.wrapped("", "  ", "[# allocated  + in part  ~ freed, not safe to reuse yet  . free]");
}

void write_pools(TextOutput& out, const Report& report)
{
    std::size_t shown = 0; // counts those that are left out, too
    bool pooled = false;
    for (const Process& process : report.processes) {
        pooled = pooled || !process.pool.devices.empty();
        write_process(out, process, shown,
                      report.processes.size() > 1 ? process_name(report, process) : "");
    }
    if (shown > kMostTables)
        out.stream() << "  ... and " << counted(shown - kMostTables, "more device")
                     << "; --json has all\n";
    if (pooled)
        write_map_legend(out);
}

} // namespace vramscope::report
