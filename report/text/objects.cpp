// report/text/objects.cpp — objects of the driver's: sums, then a line for each call stack.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/rows.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/object_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kShownObjects = 20;

void sums_of(TextOutput& out, const Report& report, const Process& process)
{
    out.stream() << out.painted(report.processes.size() > 1
                                    ? "Objects of " + process_name(report, process)
                                    : "Objects of the driver's",
                                "1")
                 << '\n';
    for (const ObjectTotal& total : process.objects)
        out.stream() << fmt::format("  {:<14}{:>12} made {:>12} ended {:>11} left at the end\n",
                                    object_noun(total.object), grouped(total.made),
                                    grouped(total.ended), grouped(total.alive));
    if (process.objects.empty() && process.records("objects"))
        out.stream() << "  none was made\n";
    if (!process.records("objects"))
        out.wrapped("", "Not recorded: ", "streams, events, graphs, modules and libraries");
    out.stream() << '\n';
}

std::string object_words(const Report& report, const ObjectRow& row)
{
    std::string words = fmt::format("{}: {} made, {} ended, {} left", object_noun(row.memory),
                                    grouped(row.made), grouped(row.ended), grouped(row.blocks));
    if (row.piles_up() && !row.is_left())
        words += fmt::format(", at least {} at once", grouped(row.at_once));
    if (row.known)
        words += ", suppressed";
    else if (const std::string how = class_words(row); row.has_class() && !how.empty())
        words += ", " + how;
    if (row.taken)
        words += ", " + taken_words(*row.taken);
    if (row.device >= 0)
        words += fmt::format(", device {}", row.device);
    if (row.stacks > 1)
        words += fmt::format(", by {} call stacks of one function", grouped(row.stacks));
    if (!row.library.empty())
        words += ", of " + terminal_safe(row.library);
    return report.processes.size() > 1 ? words + ", " + process_name(report, row.process) : words;
}

void object_line(TextOutput& out, const Report& report, const ObjectRow& row)
{
    out.wrapped("", "  ", object_words(report, row));
    out.line("      ", row);
}

} // namespace

void write_objects_left(TextOutput& out, const Report& report)
{
    const auto piles_up = [](const ObjectRow& row) { return row.piles_up(); };
    if (std::none_of(report.objects.begin(), report.objects.end(), piles_up))
        return;
    out.stream() << '\n' << out.painted("Objects that pile up", "1") << '\n';
    for (const ObjectRow& row : report.objects)
        if (row.piles_up())
            object_line(out, report, row);
}

void write_objects(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextOutput text(out, style);
    for (const Process& process : report.processes)
        sums_of(text, report, process);
    const ChosenRows<ObjectRow> chosen = choose(report.objects, style.rows, kShownObjects);
    for (std::size_t at = 0; at < chosen.shown; ++at)
        object_line(text, report, *chosen.rows[at]);
    if (chosen.more > 0)
        out << "  " << chosen.rest() << '\n';
    write_by_owner(text, report);
    if (!report.objects.empty() || !report.by_owner.empty())
        out << '\n';
    for (const std::string& reason : report.reasons)
        text.wrapped("", "Incomplete: ", terminal_safe(reason));
    write_unread_files(text, report);
    out << "Next: vramscope report " << arguments_of(report) << '\n';
}

} // namespace vramscope::report
