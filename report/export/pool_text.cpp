// report/export/pool_text.cpp — the rows of PyTorch's memory_summary(), and segments as cells.
#include "report/export/pool_text.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/export/view_text.hpp"
#include "report/export/words.hpp"
#include "report/read/segment_cells.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostTables = 4; // of all processes together; --json has the others

struct Row {
    const char* name;
    PoolStat PoolStats::*stat;
    bool bytes;
    bool of_splits = false; // not shown where nothing was ever split
};

constexpr Row kRows[] = {
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

void write_device(TextOutput& out, const Process& process, const PoolDevice& device,
                  bool name_process)
{
    const PoolStats& stats = device.stats;
    const std::string of = name_process ? fmt::format(", process {}", process.pid) : "";
    const std::string title = fmt::format("Pool on {}{}", device_name(device.device), of);
    out.stream() << '\n'
                 << out.painted(title, "1")
                 << std::string(title.size() < 24 ? 24 - title.size() : 1, ' ')
                 << fmt::format(" {:>12} {:>12} {:>12} {:>12}\n", "cur usage", "peak usage",
                                "tot alloc", "tot freed");
    for (const Row& row : kRows) {
        const Stat& stat = (stats.*row.stat).all;
        if (!row.of_splits || stat.allocated > 0)
            write_row(out.stream(), row.name, stat, row.bytes);
    }
    if (stats.oversize_segments.allocated + stats.oversize_allocations.allocated > 0) {
        write_row(out.stream(), "oversize allocations", stats.oversize_allocations, false);
        write_row(out.stream(), "oversize segments", stats.oversize_segments, false);
    }
    write_counts(out, stats);
    write_maps(out, device);
    const std::uint64_t kept = stats.reserved_bytes.all.current - stats.allocated_bytes.all.current;
    if (kept > 0)
        out.wrapped("", "  ",
                    fmt::format("cached at the end: {}, which is no leak", human_bytes(kept)));
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
    std::size_t devices = 0;
    for (const Process& process : report.processes)
        devices += process.pool.devices.size();
    if (devices == 0)
        return;
    std::size_t shown = 0;
    for (const Process& process : report.processes) {
        for (const PoolDevice& device : process.pool.devices) {
            if (shown++ < kMostTables)
                write_device(out, process, device, report.processes.size() > 1);
        }
        if (process.pool.outside > 0)
            out.wrapped("", "  ",
                        fmt::format("{} lay in no segment that the log tells of, and are in no "
                                    "number here",
                                    counted(process.pool.outside, "pooled allocation")));
    }
    if (devices > kMostTables)
        out.stream() << "  ... and " << counted(devices - kMostTables, "more device")
                     << "; --json has all\n";
    write_map_legend(out);
}

} // namespace vramscope::report
