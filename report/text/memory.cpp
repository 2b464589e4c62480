// report/text/memory.cpp — how the memory of each device was made up.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/mempool_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownMarkRows = 12;

struct PartRow {
    const char* name;
    std::uint64_t Waterfall::*part;
    bool of_driver = false;
    bool of_pool = false;
    bool unless_none = false; // left out where it is 0 at each moment
};

constexpr PartRow kPartRows[] = {
    {"  used on the device", &Waterfall::used, true},
    {"- others and unattributed", &Waterfall::unattributed, true},
    {"  of it for contexts", &Waterfall::contexts, true, false, true},
    {"  of it for streams and code", &Waterfall::objects, true, false, true},
    {"= reserved", &Waterfall::reserved},
    {"- in whole free segments", &Waterfall::releasable, false, true},
    {"- stuck beside blocks", &Waterfall::stuck, false, true},
    {"- freed, not safe to reuse yet", &Waterfall::pending, false, true},
    {"- kept by allocators", &Waterfall::kept},
    {"= allocated", &Waterfall::allocated},
    {"- rounded up by the pool", &Waterfall::internal, false, true},
    {"= requested", &Waterfall::requested},
    {"  of it past the pool", &Waterfall::direct, false, true},
};

void write_waterfalls(TextOutput& out, const MemoryReport& device)
{
    const std::array moments{&device.at_peak, &device.at_reserved_peak, &device.at_end};
    out.stream() << fmt::format("  {:<30} {:>14} {:>14} {:>14}\n", "", "most allocated",
                                "most reserved", "at the end");
    out.stream() << fmt::format("  {:<30}", "");
    for (const MemoryMoment* const moment : moments)
        out.stream() << fmt::format(" {:>14}", human_time(moment->ns));
    out.stream() << '\n';
    const bool sampled = std::any_of(moments.begin(), moments.end(),
                                     [](const auto* one) { return one->parts.used_known; });
    for (const PartRow& row : kPartRows) {
        if ((row.of_driver && !sampled) || (row.of_pool && !device.pooled))
            continue;
        if (row.part == &Waterfall::direct && device.peak_direct == 0)
            continue;
        const auto is_there = [&](const auto* one) { return one->parts.*row.part != 0; };
        if (row.unless_none && std::none_of(moments.begin(), moments.end(), is_there))
            continue;
        if (row.part == &Waterfall::kept && device.allocators.empty())
            continue;
        out.stream() << fmt::format("  {:<30}", row.name);
        for (const MemoryMoment* const moment : moments)
            out.stream() << fmt::format(" {:>14}", row.of_driver && !moment->parts.used_known
                                                       ? "not known"
                                                       : human_bytes(moment->parts.*row.part));
        out.stream() << '\n';
    }
}

// "PyTorch's blocks", "cuBLAS (libcublas.so.12)".
std::string words_for(const MemoryHolder& holder)
{
    const std::string name = terminal_safe(holder.name);
    switch (holder.kind) {
    case HolderKind::blocks:
        return holder.library.empty() ? name : fmt::format("{}, for {}", name, holder.library);
    case HolderKind::cache:
        return name.empty() ? "kept by allocators" : "kept by " + name;
    case HolderKind::module:
        return holder.library.empty() ? name : fmt::format("{} ({})", holder.library, name);
    case HolderKind::pool:
        return "vramscope's pool, beside blocks";
    case HolderKind::contexts:
        return "the driver, for contexts";
    case HolderKind::objects:
        return "the driver, for streams and code";
    case HolderKind::unattributed:
        return "contexts, code, other processes";
    case HolderKind::unknown:
        break;
    }
    return "(not known)";
}

std::uint64_t bytes_of(const MemoryHolder& wanted, const std::vector<MemoryHolder>& holders)
{
    for (const MemoryHolder& one : holders)
        if (one.kind == wanted.kind && one.name == wanted.name && one.library == wanted.library)
            return one.bytes;
    return 0;
}

// Where an allocator of the program's or several modules share the device.
void write_holders(TextOutput& out, const MemoryReport& device)
{
    std::vector<MemoryHolder> rows = device.holders_at_peak;
    for (const MemoryHolder& one : device.holders_at_end)
        if (bytes_of(one, rows) == 0)
            rows.push_back(one);
    const auto owners = std::count_if(rows.begin(), rows.end(), [](const MemoryHolder& row) {
        return row.kind == HolderKind::blocks || row.kind == HolderKind::module;
    });
    if (owners < 2 && device.allocators.empty())
        return;
    std::stable_sort(rows.begin(), rows.end(),
                     [](const MemoryHolder& a, const MemoryHolder& b) { return a.kind < b.kind; });
    out.stream() << fmt::format("  {:<32} {:>14} {:>14}\n", "who had it", "most allocated",
                                "at the end");
    for (const MemoryHolder& row : rows) {
        const std::string name = shorten_function(words_for(row), 32);
        out.stream() << "  " << name
                     << std::string(32 - std::min<std::size_t>(32, columns(name)), ' ')
                     << fmt::format(" {:>14} {:>14}\n",
                                    human_bytes(bytes_of(row, device.holders_at_peak)),
                                    human_bytes(bytes_of(row, device.holders_at_end)));
    }
}

void write_marks(TextOutput& out, const MemoryReport& device)
{
    if (device.at_marks.empty())
        return;
    out.stream() << fmt::format("  {:<30} {:>14} {:>14} {:>14}\n", "at each mark", "allocated",
                                "reserved", "cached");
    const std::size_t shown = std::min(kShownMarkRows, device.at_marks.size());
    for (std::size_t at = 0; at < shown; ++at) {
        const MarkedMoment& mark = device.at_marks[at];
        const std::string name = shorten_function(
            fmt::format("{:>8}  {}", human_time(mark.ns), terminal_safe(mark.mark)), 30);
        out.stream() << "  " << name
                     << std::string(30 - std::min<std::size_t>(30, columns(name)), ' ')
                     << fmt::format(" {:>14} {:>14} {:>14}\n", human_bytes(mark.parts.allocated),
                                    human_bytes(mark.parts.reserved),
                                    human_bytes(mark.parts.cached()));
    }
    if (shown < device.at_marks.size())
        out.stream() << fmt::format("  ... and {}; --json has the first {}\n",
                                    counted(device.at_marks.size() - shown, "more mark"),
                                    kMostMarkedMoments);
}

void write_pieces(TextOutput& out, const char* when, const FreePieces& free)
{
    if (free.pieces == 0) {
        out.wrapped("", "  ", fmt::format("{}: no free piece", when));
        return;
    }
    std::string text =
        fmt::format("{}: {} free in {}, the largest {}", when, human_bytes(free.bytes),
                    counted(free.pieces, "piece"), human_bytes(free.largest));
    if (free.largest_request > 0)
        text += fmt::format("; {} of it in pieces of no use for the largest request ({}), {} for "
                            "the requests of this log on average",
                            percent(free.unusable_for_largest), human_bytes(free.largest_request),
                            percent(free.unusable_mean));
    out.wrapped("", "  ", text);
}

void write_use(TextOutput& out, const MemoryReport& device)
{
    out.wrapped("", "  ",
                fmt::format("in use: {} of the two peaks ({} allocated, {} reserved, each at its "
                            "own time); {} when the most was reserved",
                            percent(device.utilisation_of_peaks()),
                            human_bytes(device.peak_allocated()),
                            human_bytes(device.peak_reserved()),
                            percent(device.utilisation_at_reserved_peak())));
    write_pieces(out, "at the pool's peak", device.free_at_peak);
    write_pieces(out, "at the end", device.free_at_end);
}

void write_mempool(TextOutput& out, const Mempool& pool, std::string_view rest)
{
    out.wrapped("", "  ",
                fmt::format("{}, of {} reserved, at {}{}", kept_by(pool),
                            human_bytes(pool.reserved), human_time(pool.ns), rest));
}

// What to do about it only where they kept something.
void write_mempools(TextOutput& out, const MemoryReport& device)
{
    for (const Mempool& pool : device.mempools) {
        const Mempool& last =
            *std::find_if(device.mempools_at_end.begin(), device.mempools_at_end.end(),
                          [&](const Mempool& one) { return one.handle == pool.handle; });
        write_mempool(out, pool,
                      fmt::format("{}{}",
                                  last.ns == pool.ns
                                      ? ""
                                      : fmt::format("; {} at {}, told of last",
                                                    human_bytes(last.kept()), human_time(last.ns)),
                                  pool.kept() > 0 ? fmt::format("; {}", kMempoolRemedy) : ""));
    }
}

const PoolDevice* pool_of(const Process& process, std::int32_t device)
{
    for (const PoolDevice& pool : process.pool.devices) {
        if (pool.device == device)
            return &pool;
    }
    return nullptr;
}

void write_device_fragmentation(TextOutput& out, const Report& report, const Process& process,
                                const MemoryReport& device)
{
    const std::string title = device_title(report, process, device.device, device.total_bytes);
    out.stream() << '\n' << out.painted(title, "1") << '\n';
    write_waterfalls(out, device);
    write_holders(out, device);
    write_marks(out, device);
    write_mempools(out, device);
    if (!device.pooled) {
        out.wrapped(
            "", "  ",
            "estimated: without a pool only the driver knows what it rounds up, and how its "
            "free memory lies");
        return;
    }
    write_use(out, device);
    if (const PoolDevice* const pool = pool_of(process, device.device))
        write_maps(out, *pool);
}

struct Worst {
    const MemoryReport* device = nullptr;
    std::uint64_t unused = 0;
};

Worst worst_device(const Report& report)
{
    Worst worst;
    for (const Process& process : report.processes) {
        for (const MemoryReport& device : process.memory) {
            const std::uint64_t unused = device.at_reserved_peak.parts.cached();
            if (device.pooled && (!worst.device || unused > worst.unused))
                worst = {&device, unused};
        }
    }
    return worst;
}

// Null: none of the driver's pools was seen to keep anything.
const Mempool* most_kept(const Report& report)
{
    const Mempool* most = nullptr;
    for (const Process& process : report.processes)
        for (const MemoryReport& device : process.memory)
            for (const Mempool& pool : device.mempools)
                if (pool.kept() > (most ? most->kept() : 0))
                    most = &pool;
    return most;
}

void write_verdict(TextOutput& out, const Report& report, bool any)
{
    const std::string word = out.painted("FRAGMENTATION", "1");
    const auto [device, unused] = worst_device(report);
    if (!any) {
        out.stream() << word << ": no device memory was seen\n";
        return;
    }
    const Mempool* const most = most_kept(report);
    if (most && most->kept() > unused) {
        out.wrapped("", "", fmt::format("{}: {}", word, kept_by(*most)));
        return;
    }
    if (!device) {
        out.wrapped(
            "", "",
            word + ": none that is known: no pool of vramscope's or of the program's was in use, "
                   "and what the driver's own pools keep is not known");
        return;
    }
    const Waterfall& parts = device->at_reserved_peak.parts;
    out.wrapped(
        "", "",
        fmt::format("{}: {} of {} reserved on {} were not in use when the most was reserved", word,
                    human_bytes(unused), human_bytes(parts.reserved), device_name(device->device)));
    if (unused > 0)
        out.wrapped("", "  ",
                    fmt::format("{} in whole free segments, which go back when memory is short; {} "
                                "stuck beside blocks; {} freed, not safe to reuse yet",
                                human_bytes(parts.releasable), human_bytes(parts.stuck),
                                human_bytes(parts.pending)));
}

} // namespace

void write_kept_now(TextOutput& out, const Process& process)
{
    for (const MemoryReport& device : process.memory)
        for (const Mempool& pool : device.mempools_at_end)
            if (pool.kept() > 0)
                write_mempool(out, pool, "");
}

void write_fragmentation(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextOutput text(out, style);
    bool any = false;
    bool pooled = false;
    for (const Process& process : report.processes) {
        any = any || !process.memory.empty();
        for (const MemoryReport& device : process.memory)
            pooled = pooled || device.pooled;
    }
    for (const Headline& headline : report.headlines)
        if (headline.kind == HeadlineKind::out_of_memory)
            write_headline(text, "", headline);
    write_verdict(text, report, any);
    for (const Process& process : report.processes) {
        for (const MemoryReport& device : process.memory)
            write_device_fragmentation(text, report, process, device);
    }
    if (pooled)
        write_map_legend(text);
    write_by_owner(text, report);
    write_shortages(text, report);
    write_doubts(text, report);
    write_unread_files(text, report);
    write_next(text, "vramscope peak", report);
}

} // namespace vramscope::report
