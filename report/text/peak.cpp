// report/text/peak.cpp — what the peak of each device was made of, in parts that add up.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownStacks = 10;
constexpr std::size_t kShownParts = 8;

struct Line {
    std::uint64_t bytes = 0;
    std::string blocks;
    std::string name;
};

// Shares of all lines together are the whole.
void write_lines(TextOutput& out, const char* title, const std::vector<Line>& lines)
{
    std::vector<std::uint64_t> bytes;
    for (const Line& line : lines)
        bytes.push_back(line.bytes);
    const std::vector<std::string> parts = shares(bytes);
    out.stream() << "  " << title << '\n';
    for (std::size_t at = 0; at < lines.size(); ++at)
        out.stream() << fmt::format("  {:>8}  {:>10} {:<15} {}\n", parts[at],
                                    human_bytes(lines[at].bytes), lines[at].blocks, lines[at].name);
}

std::string in_blocks(std::uint64_t blocks)
{
    return "in " + counted(blocks, "block");
}

// The part of the allocated bytes that was not asked for.
void add_rest(std::vector<Line>& lines, const MemoryReport& device)
{
    const Waterfall& parts = device.at_peak.parts;
    if (parts.internal > 0)
        lines.push_back({parts.internal, "", "rounded up by the pool"});
    if (parts.requested > device.peak.bytes)
        lines.push_back({parts.requested - device.peak.bytes, "", "blocks that the log lost"});
}

void write_stacks(TextOutput& out, const Report& report, const MemoryReport& device)
{
    const Peak& peak = device.peak;
    std::vector<Line> lines;
    const ChosenRows<PeakStack> chosen = choose(peak.stacks, out.style().rows, kShownStacks);
    constexpr std::size_t kTaken = 2 + 8 + 2 + 10 + 1 + 15 + 1;
    std::vector<ShownRow> rows;
    for (std::size_t at = 0; at < chosen.shown; ++at)
        rows.push_back({chosen.rows[at]});
    const RowHeadlines headlines(rows, report);
    std::uint64_t blocks = peak.blocks;
    for (std::size_t at = 0; at < chosen.shown; ++at) {
        const PeakStack& row = *chosen.rows[at];
        const std::string api = terminal_safe(row.api) + "  ";
        lines.push_back({row.bytes, in_blocks(row.blocks),
                         api + headlines.in(at, out.room_behind(kTaken + columns(api)))});
        blocks -= row.blocks;
    }
    if (const std::uint64_t more = chosen.more + peak.more_stacks; more > 0)
        lines.push_back({chosen.more_bytes + peak.more_bytes, in_blocks(blocks),
                         counted(more, chosen.shown > 0 ? "more call stack" : "call stack")});
    add_rest(lines, device);
    write_lines(out, "by call stack", lines);
}

// A list of one part says nothing that the whole did not.
void write_parts(TextOutput& out, const char* title, const std::vector<PeakPart>& parts,
                 const char* unnamed, const MemoryReport& device)
{
    if (parts.size() < 2)
        return;
    std::vector<Line> lines;
    const std::size_t shown = parts.size() > kShownParts ? kShownParts - 1 : parts.size();
    for (std::size_t at = 0; at < shown; ++at) {
        std::string name = parts[at].name.empty() ? unnamed : terminal_safe(parts[at].name);
        const std::size_t room = out.width() > 60 ? out.width() - 40 : 20;
        lines.push_back({parts[at].bytes, in_blocks(parts[at].blocks),
                         columns(name) > room ? shorten_path(name, room) : name});
    }
    Line more{.blocks = "", .name = counted(parts.size() - shown, "other")};
    std::uint64_t blocks = 0;
    for (std::size_t at = shown; at < parts.size(); ++at) {
        more.bytes += parts[at].bytes;
        blocks += parts[at].blocks;
    }
    if (shown < parts.size()) {
        more.blocks = in_blocks(blocks);
        lines.push_back(more);
    }
    add_rest(lines, device);
    write_lines(out, title, lines);
}

void write_device_peak(TextOutput& out, const Report& report, const Process& process,
                       const MemoryReport& device)
{
    const Waterfall& parts = device.at_peak.parts;
    out.stream() << '\n'
                 << out.painted(device_title(report, process, device.device, device.total_bytes),
                                "1")
                 << '\n';
    out.wrapped("", "  ",
                fmt::format("{} at {}, in {}; {}", human_bytes(parts.allocated),
                            human_time(device.at_peak.ns), counted(device.peak.blocks, "block"),
                            device.pooled ? fmt::format("{} more were cached beside it",
                                                        human_bytes(parts.cached()))
                                          : "no pool is known to have cached more"));
    if (parts.cached() > 0)
        out.wrapped("", "  ",
                    fmt::format("cached: {} in whole free segments, {} stuck beside blocks, "
                                "{} freed and not safe to reuse yet",
                                human_bytes(parts.releasable), human_bytes(parts.stuck),
                                human_bytes(parts.pending)));
    if (parts.allocated == 0)
        return;
    write_stacks(out, report, device);
    write_parts(out, "by module", device.peak.modules, "(not known)", device);
    write_parts(out, "by NVTX range", device.peak.phases, "(outside of any)", device);
    write_parts(out, "by call", device.peak.apis, "(not known)", device);
}

} // namespace

void write_peak(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextOutput text(out, style);
    const MemoryReport* const device = device_of_peak(report);
    const std::string word = text.painted("PEAK", "1");
    if (!device || device->peak_allocated() == 0) {
        out << word << ": no device memory was seen\n";
    } else {
        const Peak& peak = device->peak;
        std::string by;
        if (!peak.stacks.empty() && !peak.stacks.front().stack.empty())
            by = fmt::format("; {} of it by {}", human_bytes(peak.stacks.front().bytes),
                             innermost_in(peak.stacks.front(), text.room_behind(20)));
        text.wrapped(
            "", "",
            fmt::format("{}: {} allocated on {}{}{}", word, human_bytes(device->peak_allocated()),
                        device_name(device->device),
                        device->total_bytes > 0 ? " of " + human_bytes(device->total_bytes) : "",
                        by));
    }
    for (const Process& process : report.processes) {
        for (const MemoryReport& one : process.memory)
            write_device_peak(text, report, process, one);
    }
    write_by_owner(text, report);
    write_advice(text, report);
    write_doubts(text, report);
    write_unread_files(text, report);
    write_next(text, "vramscope timeline", report);
}

} // namespace vramscope::report
