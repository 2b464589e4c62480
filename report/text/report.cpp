// report/text/report.cpp — the report for a person at a terminal: verdict first, next step last.
#include "report/model/report.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/leak_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

constexpr std::size_t kShownMarks = 20;
constexpr std::size_t kShownLogs = 8;

class TextWriter : public TextOutput {
public:
    TextWriter(std::ostream& out, const Report& report, const TextStyle& style)
        : TextOutput(out, style), report_(report)
    {
    }

    void verdict(std::string_view prefix)
    {
        for (const Headline& headline : report_.headlines) {
            write_headline(*this, prefix, headline);
            if (headline.kind == HeadlineKind::leaks)
                parts(prefix, headline.processes);
        }
        what_leaked(prefix);
        if (const std::string known = suppressed(report_); !known.empty())
            out_ << prefix << "  suppressed: " << known << '\n';
    }

    static std::string times_of(const Process& process)
    {
        if (const std::string what = process.info_value("imported"); !what.empty())
            return fmt::format(
                "{}{}, {} long", process.started.empty() ? "" : "from " + process.started + ", ",
                terminal_safe("imported from a " + what), human_time(process.duration_ns));
        // Of a program whose end is not in the log, only its last event's time is known.
        return fmt::format("pid {}, {}ran {}{} and {}", process.pid,
                           process.started.empty() ? "" : "started " + process.started + ", ",
                           process.end.conclusive() ? "" : "at least ",
                           human_time(process.duration_ns), describe(process.end));
    }

    // What a program that runs on holds: not a verdict.
    void holdings()
    {
        const Totals& totals = report_.totals;
        for (const Process& process : report_.processes)
            out_ << terminal_safe(process.program) << " (process " << process.pid << ") ";
        out_ << "holds " << painted(human_bytes(totals.leaked_bytes), "1") << " in "
             << counted(totals.leaked_blocks, "block") << ", from "
             << counted(leaked_stacks(report_), "call stack") << '\n';
    }

    void process(const Process& process)
    {
        const std::string command = process.command.empty() ? process.program : process.command;
        out_ << '\n';
        field("Program", terminal_safe(command.empty() ? "(not recorded)" : command));
        field("", times_of(process));
        field("Log", terminal_safe(process.log.string()));
        if (const std::string driver = driver_line(process); !driver.empty())
            field("Driver", driver);
        for (const DeviceInfo& device : process.devices)
            field(fmt::format("Device {}", device.ordinal),
                  fmt::format("{}, {}", terminal_safe(device.name), human_bytes(device.bytes)));
        if (const std::string pool = pool_line(process.pool); !pool.empty())
            field("Pool", pool);
        allocators(process);
        totals(process);
        marks(process);
    }

    void notices()
    {
        if (!report_.notices.empty() || !report_.unread_files.empty())
            out_ << '\n';
        for (const std::string& notice : report_.notices)
            wrapped("", "Note: ", terminal_safe(notice));
        write_unread_files(*this, report_);
    }

private:
    void parts(std::string_view prefix, const std::vector<std::size_t>& processes)
    {
        if (const std::string parts = leaked_parts(report_, processes); !parts.empty())
            out_ << prefix << "  of them " << parts << '\n';
    }

    // Where no headline says it.
    void what_leaked(std::string_view prefix)
    {
        if (report_.verdict == Verdict::clean && report_.headlines.front().is_finding())
            out_ << prefix << "  " << nothing_leaked(report_.totals) << '\n';
        if (report_.verdict != Verdict::inconclusive)
            return;
        for (const std::string& reason : report_.reasons)
            wrapped(prefix, "  because ", terminal_safe(reason));
        if (const std::string left = all_that_is_left(report_); !left.empty())
            wrapped(prefix, "  ", "up to there " + left);
        std::vector<std::size_t> all(report_.processes.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        parts(prefix, all);
    }

    static std::string driver_line(const Process& process)
    {
        const std::string path = terminal_safe(process.info_value("driver.path"));
        const std::string version = terminal_safe(process.info_value("driver.version"));
        std::string line = process.info_value("driver.simulated") == "1" ? "simulated" : "";
        for (const std::string& part : {version, path})
            line += (line.empty() || part.empty() ? "" : ", ") + part;
        return line;
    }

    void allocators(const Process& process)
    {
        for (const MemoryReport& device : process.memory) {
            for (const AllocatorMemory& one : device.allocators)
                field(terminal_safe(one.name),
                      fmt::format(
                          "{}: at most {} allocated{} and {} reserved; at the end {} in {} "
                          "and {}",
                          device_name(device.device), human_bytes(one.allocated.peak), active(one),
                          human_bytes(one.reserved.peak), human_bytes(one.allocated.current),
                          counted(one.blocks.current, "block"), human_bytes(one.reserved.current)) +
                          retries(one));
        }
    }

    // With what it got back while another stream still used it, if that was ever more.
    static std::string active(const AllocatorMemory& allocator)
    {
        if (!allocator.active || allocator.active->peak == allocator.allocated.peak)
            return "";
        return ", " + human_bytes(allocator.active->peak) + " active";
    }

    // How often the driver refused the allocator memory at first.
    static std::string retries(const AllocatorMemory& allocator)
    {
        if (allocator.retries == 0)
            return "";
        return fmt::format("; short of memory, it gave its cache back and asked again {}, {}in {}",
                           allocator.retries == 1 ? "once" : grouped(allocator.retries) + " times",
                           allocator.retried_at.size() == 1 ? "" : "most often ",
                           innermost_in(allocator.retried_at.front(), 60));
    }

    void totals(const Process& process)
    {
        const Totals& totals = process.totals;
        std::string names;
        for (const std::string& entry_point : process.coverage.entry_points_seen)
            names += (names.empty() ? "" : ", ") + terminal_safe(entry_point);
        field("Seen",
              fmt::format("{} of {} and {}{}{}", counted(totals.allocations, "allocation"),
                          human_bytes(totals.allocated_bytes), counted(totals.frees, "free"),
                          names.empty() ? "" : ", by ", names));
        field("Peak", fmt::format("{} of device memory requested{}, {} of pinned host memory",
                                  human_bytes(totals.peak_device_bytes), given_at_most(process),
                                  human_bytes(totals.peak_host_bytes)));
        std::string left;
        for (const MemoryTotal& total : totals.leaked_by_memory)
            left += fmt::format("{}{} {} in {}", left.empty() ? "" : "; ", name(total.memory),
                                human_bytes(total.bytes), counted(total.blocks, "block"));
        if (process.coverage.graph_allocations > 0)
            field("Graphs", fmt::format("{} of {}, theirs to free",
                                        counted(process.coverage.graph_allocations, "allocation"),
                                        human_bytes(totals.graph_bytes)));
        using enum ProcessEnd::Kind;
        const char* const what = process.end.kind == running    ? "Holds now"
                                 : process.end.kind == not_read ? "Held then"
                                                                : "Not freed";
        field(what, left.empty() ? "nothing" : left);
    }

    // What the program asked for is less than what it was given by the pool, and that less than
    // what the pool took. Of one device: those of several are at different times.
    static std::string given_at_most(const Process& process)
    {
        if (process.memory.size() != 1 || !process.memory.front().pooled)
            return "";
        return fmt::format(" ({} allocated, {} reserved)", human_bytes(peak_bytes(process)),
                           human_bytes(peak_reserved_bytes(process)));
    }

    void marks(const Process& process)
    {
        const std::size_t shown = std::min(kShownMarks, process.marks.size());
        for (std::size_t at = 0; at < shown; ++at) {
            const Mark& mark = process.marks[at];
            field(at == 0 ? "Marks" : "",
                  fmt::format("{:>9}  {}{}", human_time(mark.ns), terminal_safe(mark.name),
                              mark.tid == 0 ? " (vramscope mark)" : ""));
        }
        if (shown < process.mark_count)
            field("", fmt::format("... and {}; --json has {}",
                                  counted(process.mark_count - shown, "more mark"),
                                  process.marks.size() < process.mark_count
                                      ? fmt::format("the first {}", grouped(process.marks.size()))
                                      : "all"));
    }

    const Report& report_;
};

// What was lost and what went wrong; `whole`: the processes, their owners and pools too.
void write_findings(std::ostream& out, const Report& report, const TextStyle& style, bool whole)
{
    TextWriter text(out, report, style);
    text.verdict("");
    write_ranks(out, report, style);
    for (const Process& process : report.processes)
        if (whole)
            text.process(process);
    write_lost(text, report);
    for (const FoundSection& section : kFoundSections)
        section.write(text, report);
    if (whole) {
        write_held(text, report);
        write_owners_and_refusals(text, report);
        write_pools(text, report);
    }
    write_suppressions(text, report);
    text.notices();
}

void write_log_names(TextOutput& out, const Report& report, std::string_view prefix)
{
    const std::size_t logs = report.processes.size();
    std::string names;
    for (std::size_t at = 0; at < std::min(kShownLogs, logs); ++at)
        names += (at > 0 ? ", " : "") + terminal_safe(report.processes[at].log.string());
    if (logs > kShownLogs)
        names += fmt::format(", and {}", counted(logs - kShownLogs, "more log"));
    if (logs > 1)
        out.wrapped(prefix, "logs: ", names);
    else if (logs == 1)
        out.stream() << prefix << "log: " << names << '\n';
}

} // namespace

void write_report(std::ostream& out, const Report& report, const TextStyle& style)
{
    write_findings(out, report, style, true);
    out << "\nNext: vramscope leaks --json leaks.json " << arguments_of(report) << '\n';
}

void write_leaks(std::ostream& out, const Report& report, const TextStyle& style)
{
    write_findings(out, report, style, false);
    out << "\nNext: vramscope report " << arguments_of(report) << '\n';
}

void write_churn(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    for (const Process& process : report.processes) {
        write_churn_of(text, process,
                       report.processes.size() > 1 ? process_name(report, process) : "");
        out << '\n';
    }
    write_by_owner(text, report);
    if (!report.by_owner.empty())
        out << '\n';
    for (const std::string& reason : report.reasons)
        text.wrapped("", "Incomplete: ", terminal_safe(reason));
    write_unread_files(text, report);
    out << "Next: vramscope report " << arguments_of(report) << '\n';
}

void write_snapshot(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.holdings();
    for (const Process& process : report.processes) {
        text.process(process);
        write_kept_now(text, process);
    }
    write_leak_rows(text, report);
    text.notices();
}

void write_summary(std::ostream& out, const Report& report, const TextStyle& style)
{
    constexpr std::string_view kPrefix = "vramscope: ";
    TextWriter text(out, report, style);
    write_drivers(text, report, kPrefix);
    text.verdict(kPrefix);
    const std::size_t logs = report.processes.size();
    if (logs > 1)
        write_ranks_summary(out, report, style, kPrefix);
    else
        write_top_leaks(text, report, kPrefix);
    for (const FoundSection& section : kFoundSections)
        if (section.summary)
            section.summary(text, report, kPrefix);
    if (!style.logs_stay)
        return;
    write_log_names(text, report, kPrefix);
    const bool blind = logs > 0 && saw_nothing(report);
    out << kPrefix << "next: vramscope "
        << (blind ? "doctor " + terminal_safe(shell_quoted(report.processes.front().log.string()))
                  : "report " + arguments_of(report, SIZE_MAX))
        << '\n';
}

} // namespace vramscope::report
