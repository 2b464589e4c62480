// report/text/report.cpp — the report for a person at a terminal: verdict first, next step last.
#include "report/model/report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/view.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

constexpr std::size_t kSummaryLeaks = 3;
constexpr std::size_t kShownMarks = 20;

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

class TextWriter : public TextOutput {
public:
    TextWriter(std::ostream& out, const Report& report, const TextStyle& style)
        : TextOutput(out, style), report_(report), replaced_modules_(replaced_modules(report))
    {
    }

    void verdict(std::string_view prefix)
    {
        const Totals& totals = report_.totals;
        const std::string known = suppressed(report_);
        out_ << prefix;
        switch (report_.verdict) {
        case Verdict::clean:
            out_ << painted("CLEAN", kGreen)
                 << (known.empty() ? ": nothing leaked; " : ": nothing else leaked; ");
            if (totals.allocations == 0)
                out_ << "no allocation succeeded\n";
            else
                out_ << counted(totals.allocations, "allocation")
                     << (known.empty() ? " seen, all freed\n" : " seen\n");
            break;
        case Verdict::leaks:
            out_ << painted("LEAKS", kRed) << ": " << not_freed(prefix) << '\n';
            break;
        case Verdict::inconclusive:
            out_ << painted("INCONCLUSIVE", kYellow)
                 << ": this run does not show whether the program leaks\n";
            for (const std::string& reason : report_.reasons)
                wrapped(prefix, "  because ", terminal_safe(reason));
            if (totals.leaked_blocks + totals.unclosed_imports > 0)
                out_ << prefix << "  up to there " << not_freed(prefix) << '\n';
            break;
        }
        if (!known.empty())
            out_ << prefix << "  suppressed: " << known << '\n';
    }

    // What a program holds that runs on is no verdict.
    void holdings()
    {
        const Totals& totals = report_.totals;
        for (const Process& process : report_.processes)
            out_ << terminal_safe(process.program) << " (process " << process.pid << ") ";
        out_ << "holds " << painted(human_bytes(totals.leaked_bytes), "1") << " in "
             << counted(totals.leaked_blocks, "block") << ", from "
             << counted(report_.leaks.size(), "call stack") << '\n';
    }

    void leaks(std::size_t most)
    {
        const std::size_t shown =
            most == 0 ? report_.leaks.size() : std::min(most, report_.leaks.size());
        write_sums(*this, report_, "", most == 0 ? report_.sums.size() : most);
        for (std::size_t at = 0; at < shown; ++at)
            leak(at + 1, report_.leaks[at]);
        if (shown < report_.leaks.size())
            out_ << "\n... and " << counted(report_.leaks.size() - shown, "more call stack")
                 << '\n';
    }

    // What belongs to others and was never closed.
    void imports()
    {
        const Totals& totals = report_.totals;
        if (report_.imports.empty())
            return;
        out_ << '\n'
             << painted("Never closed", "1") << ": " << counted(totals.unclosed_imports, "import")
             << " of others' memory, " << human_bytes(totals.unclosed_import_bytes)
             << " as far as known\n";
        for (std::size_t at = 0; at < report_.imports.size(); ++at)
            leak(at + 1, report_.imports[at]);
    }

    // Addresses cost no memory, but a program that takes them for ever runs out of them.
    void reservations()
    {
        const Totals& totals = report_.totals;
        if (report_.reservations.empty())
            return;
        out_ << '\n'
             << painted("Never given back", "1") << ": "
             << counted(totals.address_reservations, "address reservation") << " of "
             << human_bytes(totals.reserved_address_bytes) << ": addresses, no memory\n";
        for (std::size_t at = 0; at < report_.reservations.size(); ++at)
            leak(at + 1, report_.reservations[at]);
    }

    // One line per leak: size, API, the innermost frame.
    void top_leaks(std::string_view prefix)
    {
        const std::size_t shown = std::min(kSummaryLeaks, report_.leaks.size());
        std::size_t api_columns = 0;
        for (std::size_t at = 0; at < shown; ++at)
            api_columns = std::max(api_columns, columns(terminal_safe(report_.leaks[at].api)));
        for (std::size_t at = 0; at < shown; ++at) {
            const Leak& leak = report_.leaks[at];
            const std::string what =
                fmt::format("{}  {:>10} in {:<11} {:<9} {:<{}}  ", prefix, human_bytes(leak.bytes),
                            counted(leak.blocks, "block"), class_word(leak),
                            terminal_safe(leak.api), api_columns);
            const std::size_t room =
                std::max<std::size_t>(width_, columns(what) + 20) - columns(what);
            out_ << what << (leak.stack.empty() ? "(no stack)" : frame_in(leak.stack.front(), room))
                 << '\n';
        }
        if (shown < report_.leaks.size())
            out_ << prefix << "  ... and "
                 << counted(report_.leaks.size() - shown, "more call stack") << '\n';
        write_sums(*this, report_, prefix, kSummaryLeaks);
    }

    void process(const Process& process)
    {
        const std::string command = process.command.empty() ? process.program : process.command;
        out_ << '\n';
        field("Program", terminal_safe(command.empty() ? "(not recorded)" : command));
        field("", fmt::format("pid {}, {}ran {} and {}", process.pid,
                              process.started.empty() ? "" : "started " + process.started + ", ",
                              human_time(process.duration_ns), describe(process.end)));
        field("Log", terminal_safe(process.log.string()));
        if (const std::string driver = driver_line(process); !driver.empty())
            field("Driver", driver);
        for (const DeviceInfo& device : process.devices)
            field(fmt::format("Device {}", device.ordinal),
                  fmt::format("{}, {}", terminal_safe(device.name), human_bytes(device.bytes)));
        if (const std::string pool = pool_line(process.pool); !pool.empty())
            field("Pool", pool);
        totals(process);
        marks(process);
    }

    void notices()
    {
        if (!report_.notices.empty())
            out_ << '\n';
        for (const std::string& notice : report_.notices)
            wrapped("", "Note: ", terminal_safe(notice));
    }

private:
    std::string not_freed(std::string_view prefix) const
    {
        const std::uint64_t imports = report_.totals.unclosed_imports;
        const std::string open = fmt::format("{} {} never closed", counted(imports, "import"),
                                             imports == 1 ? "was" : "were");
        if (report_.totals.leaked_blocks == 0)
            return open;
        const std::string parts = leaked_parts(report_);
        return not_freed_memory() +
               (parts.empty() ? "" : fmt::format("\n{}  of them {}", prefix, parts)) +
               (imports == 0 ? "" : fmt::format("\n{}  and {}", prefix, open));
    }

    std::string not_freed_memory() const
    {
        return fmt::format("{} in {} {} not freed, from {}",
                           human_bytes(report_.totals.leaked_bytes),
                           counted(report_.totals.leaked_blocks, "block"),
                           report_.totals.leaked_blocks == 1 ? "was" : "were",
                           counted(report_.leaks.size(), "call stack"));
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
        const bool running = process.end.kind == ProcessEnd::Kind::running;
        field(running ? "Holds now" : "Not freed", left.empty() ? "nothing" : left);
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

    void leak(std::size_t number, const Leak& leak)
    {
        const std::string device = leak.device < 0 ? "" : fmt::format(", device {}", leak.device);
        const std::string memory = leak.memory == format::Memory::device
                                       ? ""
                                       : fmt::format(", {} memory", name(leak.memory));
        out_ << '\n'
             << fmt::format("#{}  {} in {}  {}{}{}\n", number,
                            painted(human_bytes(leak.bytes), "1"), counted(leak.blocks, "block"),
                            terminal_safe(leak.api), memory, device);
        wrapped("", "    ", circumstances(leak));
        if (leak.stack.empty())
            out_ << "      (no call stack was recorded)\n";
        stack(leak);
    }

    std::string circumstances(const Leak& leak) const
    {
        std::string text = fmt::format("{}, {}", name(leak.kind), class_words(leak));
        text += leak.blocks == 1 ? " at " + human_time(leak.first_ns)
                                 : fmt::format(", {} to {}", human_time(leak.first_ns),
                                               human_time(leak.last_ns));
        if (leak.shared_blocks > 0)
            text += leak.blocks == 1 ? ", shared: others may have it open"
                                     : fmt::format(", {} of them shared: others may have them open",
                                                   grouped(leak.shared_blocks));
        if (report_.processes.size() > 1)
            text += fmt::format(", process {}", report_.processes[leak.process].pid);
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
        const auto replaced =
            std::find_if(leak.stack.begin(), leak.stack.end(), [this](const Frame& frame) {
                return replaced_modules_.contains(frame.module);
            });
        if (replaced != leak.stack.end())
            text +=
                fmt::format(", {} {}", terminal_safe(file_name(replaced->module)),
                            replaced->build_id.empty()
                                ? "without a build-id"
                                : "with build-id " + hex_digits(replaced->build_id).substr(0, 12));
        return text;
    }

    const Report& report_;
    const std::set<std::string> replaced_modules_;
};

} // namespace

void write_report(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.verdict("");
    write_ranks(out, report, style);
    for (const Process& process : report.processes)
        text.process(process);
    text.leaks(style.max_leaks);
    text.imports();
    text.reservations();
    write_growth(text, report);
    write_shortages(text, report);
    write_damage(text, report);
    write_misuse(text, report);
    write_owners_and_refusals(text, report);
    write_pools(text, report);
    write_suppressions(text, report);
    text.notices();
    out << "\nNext: vramscope leaks --json leaks.json " << arguments_of(report) << '\n';
}

void write_leaks(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.verdict("");
    write_ranks(out, report, style);
    text.leaks(style.max_leaks);
    text.imports();
    text.reservations();
    write_growth(text, report);
    write_shortages(text, report);
    write_damage(text, report);
    write_misuse(text, report);
    write_suppressions(text, report);
    text.notices();
    out << "\nNext: vramscope report " << arguments_of(report) << '\n';
}

void write_churn(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    for (const Process& process : report.processes) {
        write_churn_of(text, process, report.processes.size() > 1);
        out << '\n';
    }
    for (const std::string& reason : report.reasons)
        text.wrapped("", "Incomplete: ", terminal_safe(reason));
    out << "Next: vramscope report " << arguments_of(report) << '\n';
}

void write_snapshot(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.holdings();
    for (const Process& process : report.processes)
        text.process(process);
    text.leaks(style.max_leaks);
    text.notices();
}

void write_summary(std::ostream& out, const Report& report, const TextStyle& style)
{
    constexpr std::string_view kPrefix = "vramscope: ";
    TextWriter text(out, report, style);
    text.verdict(kPrefix);
    text.top_leaks(kPrefix);
    write_growth_summary(text, report, kPrefix);
    write_shortages_summary(text, report, kPrefix);
    write_damage_summary(text, report, kPrefix);
    write_misuse_summary(text, report, kPrefix);
    for (const Process& process : report.processes)
        out << kPrefix << "log: " << terminal_safe(process.log.string()) << '\n';
    out << kPrefix << "next: vramscope report " << arguments_of(report) << '\n';
}

} // namespace vramscope::report
