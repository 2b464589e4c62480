// report/text/contexts.cpp — each context: what was done in it, who opened it, what ended it.
#include <algorithm>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string device_words(const ContextRow& row)
{
    return row.device < 0 ? "A device that is not known" : fmt::format("Device {}", row.device);
}

std::string done_in(const ContextRow& row)
{
    const std::string objects = row.objects == 0 ? "" : ", " + counted(row.objects, "object");
    if (row.allocations == 0)
        return "nothing was allocated in it" + objects;
    if (row.allocations == row.host_allocations)
        return counted(row.host_allocations, "allocation") + ", of host memory alone" + objects;
    return fmt::format("{} of {} in all{}", counted(row.allocations, "allocation"),
                       human_bytes(row.allocated_bytes), objects);
}

std::string taken(const ContextRow& row)
{
    if (!row.bytes)
        return "what it takes itself is not known";
    if (row.bytes->least == 0)
        return "it takes " + human_bytes(row.bytes->most) + " itself, at most";
    return fmt::format("it takes {} to {} itself", human_bytes(row.bytes->least),
                       human_bytes(row.bytes->most));
}

const char* opened_words(const ContextRow& row)
{
    return row.opening == format::Opening::seen ? "first seen" : "opened";
}

void one_context(TextOutput& out, const Report& report, const ContextRow& row)
{
    out.stream() << '\n';
    std::string head =
        fmt::format("{}: {}{}", device_words(row),
                    row.primary ? "its primary context" : "a context", row.stray ? ", stray" : "");
    if (report.processes.size() > 1)
        head += " of " + process_name(report, row.process);
    out.wrapped("", "",
                fmt::format("{}; {}; {}", out.painted(head, row.stray ? kRed : "1"), done_in(row),
                            taken(row)));
    if (!row.opening) {
        out.stream() << "    opened by: not recorded\n";
    } else {
        const std::string thread =
            row.thread.name.empty()
                ? fmt::format("thread {}", row.thread.tid)
                : fmt::format("thread {} ({})", row.thread.tid, terminal_safe(row.thread.name));
        out.stream() << fmt::format("    {} at {} by {}{}\n", opened_words(row),
                                    human_time(row.at_ns), thread,
                                    row.api.empty() ? "" : ", " + terminal_safe(row.api));
        if (!row.api.empty())
            out.stack(row);
    }
    if (!row.ended)
        out.stream() << "    open to the end\n";
    else
        out.stream() << fmt::format("    ended at {}, {}\n", human_time(row.ended->at_ns),
                                    terminal_safe(row.ended->api));
    if (row.ended && !row.ended->stack.empty())
        out.stack(*row.ended);
}

// Of logs that say who opened contexts, or not.
void not_recorded(TextOutput& out, const Report& report)
{
    for (const Process& process : report.processes)
        if (!process.records("contexts"))
            out.wrapped("", "Not recorded: ",
                        fmt::format("{}who opened contexts; only those that memory was allocated "
                                    "in are known",
                                    report.processes.size() > 1
                                        ? process_name(report, process) + ": "
                                        : ""));
}

} // namespace

void write_stray_contexts(TextOutput& out, const Report& report)
{
    const auto is_stray = [](const ContextRow& row) { return row.stray; };
    if (std::none_of(report.contexts.begin(), report.contexts.end(), is_stray))
        return;
    out.stream() << '\n'
                 << out.painted("Contexts on devices that the process does not work on", "1")
                 << '\n';
    for (const ContextRow& row : report.contexts)
        if (row.stray)
            one_context(out, report, row);
    out.wrapped("", "    ",
                "A thread that has not chosen a device has device 0: choose the one that the "
                "process works on before this call.");
}

void write_contexts(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextOutput text(out, style);
    const auto stray = std::count_if(report.contexts.begin(), report.contexts.end(),
                                     [](const ContextRow& row) { return row.stray; });
    out << counted(report.contexts.size(), "context");
    if (stray > 0)
        out << fmt::format(", {} of them stray: on a device that the process does not work on",
                           stray);
    out << '\n';
    for (const ContextRow& row : report.contexts)
        one_context(text, report, row);
    if (!report.contexts.empty())
        out << '\n';
    not_recorded(text, report);
    for (const std::string& reason : report.reasons)
        text.wrapped("", "Incomplete: ", terminal_safe(reason));
    write_unread_files(text, report);
    out << "Next: vramscope report " << arguments_of(report) << '\n';
}

} // namespace vramscope::report
