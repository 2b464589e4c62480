// report/text/leaks.cpp — what was not freed: a paragraph for each call stack, or a line.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/words/check_words.hpp"
#include "report/words/reach_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kSummaryLeaks = 3;

// The paths from which the leaks come of two libraries, of which one was there after the other.
std::set<std::string> replaced_modules(const Report& report)
{
    std::map<std::string, std::set<std::string>> builds;
    for (const Leak& leak : report.leaks)
        for (const Frame& frame : leak.stack)
            builds[frame.module].insert(frame.build_id);
    std::set<std::string> paths;
    for (const auto& [path, ids] : builds)
        if (ids.size() > 1)
            paths.insert(path);
    return paths;
}

// What the program calls the blocks.
std::string named(const Leak& leak)
{
    constexpr std::size_t kShown = 3;
    std::string text;
    for (std::size_t at = 0; at < std::min(kShown, leak.names.size()); ++at)
        text += fmt::format("{}\"{}\"", at == 0 ? ", named " : ", ", terminal_safe(leak.names[at]));
    return text + (leak.names.size() > kShown ? ", ..." : "");
}

std::string circumstances(const std::set<std::string>& replaced_paths, const Leak& leak)
{
    std::string text = fmt::format("{}, {}", name(leak.kind), class_words(leak));
    text += leak.blocks == 1
                ? " at " + human_time(leak.first_ns)
                : fmt::format(", {} to {}", human_time(leak.first_ns), human_time(leak.last_ns));
    if (leak.shared_blocks > 0)
        text += leak.blocks == 1 ? ", shared: others may have it open"
                                 : fmt::format(", {} of them shared: others may have them open",
                                               grouped(leak.shared_blocks));
    if (leak.thread_count > 1) {
        text += fmt::format(", {} threads", grouped(leak.thread_count));
    } else if (!leak.threads.empty() && leak.threads.front().tid != 0) {
        const ThreadLabel& thread = leak.threads.front();
        text += fmt::format(", thread {}", thread.tid);
        if (!thread.name.empty())
            text += fmt::format(" ({})", terminal_safe(thread.name));
    }
    if (!leak.phase.empty() || leak.phases_differ)
        text += fmt::format(", in {}{}", terminal_safe(leak.phase),
                            !leak.phases_differ  ? ""
                            : leak.phase.empty() ? "several NVTX ranges"
                                                 : "/...");
    text += named(leak);
    const auto replaced =
        std::find_if(leak.stack.begin(), leak.stack.end(),
                     [&](const Frame& frame) { return replaced_paths.contains(frame.module); });
    if (replaced != leak.stack.end())
        text += fmt::format(", {} {}", terminal_safe(file_name(replaced->module)),
                            replaced->build_id.empty()
                                ? "without a build-id"
                                : "with build-id " + hex_digits(replaced->build_id).substr(0, 12));
    return text;
}

// `leak` has the sums of all whose entry it is.
void write_leak(TextOutput& out, std::size_t number, const Leak& leak, const std::string& about)
{
    const std::string device = leak.device < 0 ? "" : fmt::format(", device {}", leak.device);
    const std::string memory =
        leak.memory == format::Memory::device ? "" : fmt::format(", {} memory", name(leak.memory));
    out.stream() << '\n'
                 << fmt::format("#{}  {} in {}  {}{}{}\n", number,
                                out.painted(human_bytes(leak.bytes), "1"),
                                counted(leak.blocks, "block"), terminal_safe(leak.api), memory,
                                device);
    out.wrapped("", "    ", about);
    for (const ReachGroup& group : leak.reach)
        out.wrapped("    ", fmt::format("{}: ", name(group.verdict)), reach_words(group));
    if (leak.reach_more > 0)
        out.stream() << fmt::format("    ... and {}\n", counted(leak.reach_more, "other holder"));
    if (leak.reach_freed > 0)
        out.stream() << fmt::format("    {} of these {} freed after the search\n",
                                    counted(leak.reach_freed, "block"),
                                    leak.reach_freed == 1 ? "was" : "were");
    if (leak.stack.empty())
        out.stream() << "      (no call stack was recorded)\n";
    out.stack(leak);
}

// Their numbers are those among all rows.
void write_rows(TextOutput& out, const Report& report, const std::vector<Leak>& rows)
{
    const std::set<std::string> replaced = replaced_modules(report);
    const ChosenRows<Leak> chosen = choose(rows, out.style().rows);
    for (std::size_t at = 0; at < chosen.shown; ++at) {
        const Leak* const row = chosen.rows[at];
        write_leak(out, static_cast<std::size_t>(row - rows.data()) + 1, *row,
                   (report.processes.size() > 1 ? process_name(report, row->process) + ": " : "") +
                       circumstances(replaced, *row));
    }
    if (chosen.more > 0)
        out.stream() << '\n' << chosen.rest() << '\n';
}

void add_reach_of(Leak& all, const Leak& leak)
{
    for (const ReachGroup& group : leak.reach)
        add_group(all.reach, group);
    all.reach_more += leak.reach_more;
    all.reach_freed += leak.reach_freed;
}

// One entry for what several processes leak; how it came to be is told of the one with the most.
void write_shared(TextOutput& out, const Report& report, const SharedLeak& shared,
                  const std::set<std::string>& replaced)
{
    const auto less = [&](std::size_t a, std::size_t b) {
        return report.leaks[a].bytes < report.leaks[b].bytes;
    };
    const Leak& most =
        report.leaks[*std::max_element(shared.leaks.begin(), shared.leaks.end(), less)];
    Leak all = most;
    all.bytes = shared.bytes;
    all.blocks = shared.blocks;
    if (std::any_of(shared.leaks.begin(), shared.leaks.end(),
                    [&](std::size_t at) { return report.leaks[at].device != most.device; }))
        all.device = -1;
    const bool alone = shared.leaks.size() == 1;
    for (const std::size_t at : shared.leaks)
        if (&report.leaks[at] != &most)
            add_reach_of(all, report.leaks[at]);
    all.reach_more += list_largest(all.reach);
    write_leak(out, static_cast<std::size_t>(&shared - report.ranks.leaks.data()) + 1, all,
               shared_words(report, shared) +
                   (alone ? ", " : fmt::format("; in {}: ", process_name(report, most.process))) +
                   circumstances(replaced, most));
}

void write_shared_rows(TextOutput& out, const Report& report)
{
    const std::set<std::string> replaced = replaced_modules(report);
    const ChosenRows<SharedLeak> chosen = choose(
        report.ranks.leaks, out.style().rows, SIZE_MAX,
        [&](const SharedLeak& row) -> const Leak& { return report.leaks[row.leaks.front()]; });
    for (std::size_t at = 0; at < chosen.shown; ++at)
        write_shared(out, report, *chosen.rows[at], replaced);
    if (chosen.more > 0)
        out.stream() << '\n' << chosen.rest() << '\n';
}

// What belongs to others and was never closed.
void write_imports(TextOutput& out, const Report& report)
{
    const Totals& totals = report.totals;
    if (report.imports.empty())
        return;
    out.stream() << '\n'
                 << out.painted("Never closed", "1") << ": "
                 << counted(totals.unclosed_imports, "import") << " of others' memory, "
                 << human_bytes(totals.unclosed_import_bytes) << " as far as known\n";
    write_rows(out, report, report.imports);
}

// Addresses cost no memory, but a program that takes them for ever runs out of them.
void write_reservations(TextOutput& out, const Report& report)
{
    const Totals& totals = report.totals;
    if (report.reservations.empty())
        return;
    out.stream() << '\n'
                 << out.painted("Never given back", "1") << ": "
                 << counted(totals.address_reservations, "address reservation") << " of "
                 << human_bytes(totals.reserved_address_bytes) << ": addresses, no memory\n";
    write_rows(out, report, report.reservations);
}

} // namespace

void write_leak_rows(TextOutput& out, const Report& report)
{
    write_sums(out, report, "");
    if (report.processes.size() > 1)
        write_shared_rows(out, report);
    else
        write_rows(out, report, report.leaks);
}

void write_lost(TextOutput& out, const Report& report)
{
    write_leak_rows(out, report);
    write_imports(out, report);
    write_reservations(out, report);
}

void write_top_leaks(TextOutput& out, const Report& report, std::string_view prefix)
{
    const std::size_t shown = std::min(kSummaryLeaks, report.leaks.size());
    std::size_t api_columns = 0;
    std::vector<ShownRow> rows;
    for (std::size_t at = 0; at < std::min(kComparedRows, report.leaks.size()); ++at) {
        const Leak& leak = report.leaks[at];
        rows.push_back({&leak, leak.device, leak.process});
        if (at < shown)
            api_columns = std::max(api_columns, columns(terminal_safe(leak.api)));
    }
    const RowHeadlines headlines(rows, report);
    for (std::size_t at = 0; at < shown; ++at) {
        const Leak& leak = report.leaks[at];
        const std::string head = fmt::format(
            "{}  {:>10} in {:<11} {:<9} {:<{}}  ", prefix, human_bytes(leak.bytes),
            counted(leak.blocks, "block"), class_word(leak), terminal_safe(leak.api), api_columns);
        out.stream() << head << headlines.in(at, out.room_behind(columns(head))) << '\n';
    }
    if (shown < report.leaks.size())
        out.stream() << prefix << "  ... and "
                     << counted(report.leaks.size() - shown, "more call stack") << '\n';
    write_sums(out, report, prefix, kSummaryLeaks);
}

} // namespace vramscope::report
