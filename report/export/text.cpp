// report/export/text.cpp — the report for a person at a terminal: verdict first, next step last.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/export/export.hpp"
#include "report/export/words.hpp"
#include "report/report.hpp"

namespace vramscope::report {

namespace {

constexpr std::size_t kSummaryLeaks = 3;
constexpr std::size_t kLeastWidth = 60;

std::string file_name(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string logs_of(const Report& report)
{
    std::string logs;
    for (const Process& process : report.processes)
        logs += (logs.empty() ? "" : " ") + terminal_safe(shell_quoted(process.log.string()));
    return logs;
}

class TextWriter {
public:
    TextWriter(std::ostream& out, const Report& report, const TextStyle& style)
        : out_(out), report_(report), style_(style), width_(std::max(style.width, kLeastWidth))
    {
    }

    void verdict(std::string_view prefix)
    {
        constexpr const char* kRed = "31";
        constexpr const char* kGreen = "32";
        constexpr const char* kYellow = "33";
        const Totals& totals = report_.totals;
        out_ << prefix;
        switch (report_.verdict) {
        case Verdict::clean:
            out_ << painted("CLEAN", kGreen) << ": nothing leaked; "
                 << counted(totals.allocations, "allocation") << " seen, all freed\n";
            break;
        case Verdict::leaks:
            out_ << painted("LEAKS", kRed) << ": " << never_freed() << '\n';
            break;
        case Verdict::inconclusive:
            out_ << painted("INCONCLUSIVE", kYellow)
                 << ": this run does not show whether the program leaks\n";
            for (const std::string& reason : report_.reasons)
                wrapped(std::string(prefix) + "  because ", terminal_safe(reason));
            if (totals.leaked_blocks > 0)
                out_ << prefix << "  at its end: " << never_freed() << '\n';
            break;
        }
    }

    void leaks(std::size_t most)
    {
        const std::size_t shown =
            most == 0 ? report_.leaks.size() : std::min(most, report_.leaks.size());
        for (std::size_t at = 0; at < shown; ++at)
            leak(at + 1, report_.leaks[at]);
        if (shown < report_.leaks.size())
            out_ << "\n... and " << counted(report_.leaks.size() - shown, "more call stack")
                 << '\n';
    }

    // One line per leak: size, API, the innermost frame.
    void top_leaks(std::string_view prefix)
    {
        const std::size_t shown = std::min(kSummaryLeaks, report_.leaks.size());
        for (std::size_t at = 0; at < shown; ++at) {
            const Leak& leak = report_.leaks[at];
            const std::string what =
                fmt::format("{}  {:>9} in {:<12} {} ", prefix, human_bytes(leak.bytes),
                            counted(leak.blocks, "block"), terminal_safe(leak.api));
            const std::size_t room = width_ > columns(what) + 20 ? width_ - columns(what) : 20;
            out_ << what
                 << (leak.stack.empty() ? "no stack recorded" : frame_in(leak.stack.front(), room))
                 << '\n';
        }
        if (shown < report_.leaks.size())
            out_ << prefix << "  ... and "
                 << counted(report_.leaks.size() - shown, "more call stack") << '\n';
    }

    void process(const Process& process)
    {
        const std::string command = process.command.empty() ? process.program : process.command;
        out_ << '\n';
        field("Program", terminal_safe(command.empty() ? "(not recorded)" : command));
        field("", fmt::format("pid {}, {}ran {}, {}", process.pid,
                              process.started.empty() ? "" : "started " + process.started + ", ",
                              human_time(process.duration_ns), describe(process.end)));
        field("Log", terminal_safe(process.log.string()));
        if (const std::string driver = driver_line(process); !driver.empty())
            field("Driver", driver);
        for (const DeviceInfo& device : process.devices)
            field(fmt::format("Device {}", device.ordinal),
                  fmt::format("{}, {}", terminal_safe(device.name), human_bytes(device.bytes)));
        totals(process);
    }

    void notices()
    {
        if (!report_.notices.empty())
            out_ << '\n';
        for (const std::string& notice : report_.notices)
            wrapped("Note: ", terminal_safe(notice));
    }

private:
    std::string painted(std::string_view text, const char* color) const
    {
        return style_.color ? fmt::format("\x1b[1;{}m{}\x1b[0m", color, text) : std::string(text);
    }

    std::string never_freed() const
    {
        return fmt::format("{} in {} {} never freed, from {}",
                           human_bytes(report_.totals.leaked_bytes),
                           counted(report_.totals.leaked_blocks, "block"),
                           report_.totals.leaked_blocks == 1 ? "was" : "were",
                           counted(report_.leaks.size(), "call stack"));
    }

    // `text` over as many lines as it takes, indented under its beginning.
    void wrapped(const std::string& prefix, std::string_view text)
    {
        const std::size_t indent = columns(prefix);
        const std::size_t room = width_ > indent + 20 ? width_ - indent : 20;
        std::string lead = prefix;
        while (!text.empty()) {
            std::size_t end = text.size();
            if (columns(text) > room) {
                const std::size_t space = text.substr(0, room + 1).rfind(' ');
                end = space == std::string_view::npos || space == 0 ? text.find(' ') : space;
                end = std::min(end, text.size());
            }
            out_ << lead << text.substr(0, end) << '\n';
            text.remove_prefix(std::min(end + 1, text.size()));
            lead.assign(indent, ' ');
        }
    }

    void field(std::string_view name, std::string_view value)
    {
        wrapped(fmt::format("{:<11} ", name), value);
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
        field("Peak", fmt::format("{} of device memory, {} of pinned host memory",
                                  human_bytes(totals.peak_device_bytes),
                                  human_bytes(totals.peak_host_bytes)));
        std::string left;
        for (const MemoryTotal& total : totals.leaked_by_memory)
            left += fmt::format("{}{} {} in {}", left.empty() ? "" : "; ", name(total.memory),
                                human_bytes(total.bytes), counted(total.blocks, "block"));
        field("Not freed", left.empty() ? "nothing" : left);
    }

    void leak(std::size_t number, const Leak& leak)
    {
        const std::string device = leak.device < 0 ? "" : fmt::format(", device {}", leak.device);
        const std::string memory = leak.memory == format::Memory::device
                                       ? ""
                                       : fmt::format(", {} memory", name(leak.memory));
        out_ << '\n'
             << fmt::format("#{}  {} in {}  {}{}{}  {}\n", number,
                            painted(human_bytes(leak.bytes), "1"), counted(leak.blocks, "block"),
                            terminal_safe(leak.api), memory, device, name(leak.kind));
        wrapped("    ", circumstances(leak));
        if (leak.stack.empty())
            out_ << "      (no call stack was recorded)\n";
        std::size_t function_columns = 0;
        for (const Frame& frame : leak.stack)
            function_columns = std::max(function_columns, columns(function_of(frame)));
        function_columns = std::min(function_columns, (width_ - 8) * 3 / 5);
        for (const Frame& frame : leak.stack)
            frame_line(frame, function_columns);
        if (leak.stack_truncated)
            out_ << "      ... (the stack was deeper than what was recorded)\n";
    }

    std::string circumstances(const Leak& leak) const
    {
        std::string text = name(leak.pattern);
        text += leak.blocks == 1 ? " at " + human_time(leak.first_ns)
                                 : fmt::format(", {} to {}", human_time(leak.first_ns),
                                               human_time(leak.last_ns));
        if (report_.processes.size() > 1)
            text += fmt::format(", process {}", report_.processes[leak.process].pid);
        if (leak.thread_count > 1) {
            text += fmt::format(", {} threads", grouped(leak.thread_count));
        } else if (!leak.threads.empty()) {
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
        return text;
    }

    static std::string function_of(const Frame& frame)
    {
        if (!frame.function.empty())
            return terminal_safe(frame.function);
        return fmt::format("{}+{:#x}",
                           frame.module.empty() ? "?" : terminal_safe(file_name(frame.module)),
                           frame.offset);
    }

    static std::string place_of(const Frame& frame)
    {
        if (!frame.file.empty())
            return frame.line > 0 ? fmt::format("{}:{}", terminal_safe(frame.file), frame.line)
                                  : terminal_safe(frame.file);
        return frame.function.empty() ? ""
                                      : fmt::format("[{}]", terminal_safe(file_name(frame.module)));
    }

    void frame_line(const Frame& frame, std::size_t function_columns)
    {
        const std::string function = shorten_function(function_of(frame), function_columns);
        const std::string place = place_of(frame);
        out_ << "      " << function;
        if (!place.empty())
            out_ << std::string(function_columns - columns(function) + 2, ' ')
                 << shorten_path(place, width_ - 8 - function_columns);
        out_ << '\n';
    }

    // A frame in one short piece: function and file name.
    static std::string frame_in(const Frame& frame, std::size_t room)
    {
        std::string place = file_name(place_of(frame));
        if (columns(place) + 12 > room)
            place.clear();
        return shorten_function(function_of(frame), room - columns(place) - 1) +
               (place.empty() ? "" : " " + place);
    }

    std::ostream& out_;
    const Report& report_;
    const TextStyle& style_;
    std::size_t width_;
};

} // namespace

void write_report(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.verdict("");
    for (const Process& process : report.processes)
        text.process(process);
    text.leaks(style.max_leaks);
    text.notices();
    out << "\nNext: vramscope leaks --json leaks.json " << logs_of(report) << '\n';
}

void write_leaks(std::ostream& out, const Report& report, const TextStyle& style)
{
    TextWriter text(out, report, style);
    text.verdict("");
    text.leaks(style.max_leaks);
    text.notices();
    out << "\nNext: vramscope report " << logs_of(report) << '\n';
}

void write_summary(std::ostream& out, const Report& report, const TextStyle& style)
{
    constexpr std::string_view kPrefix = "vramscope: ";
    TextWriter text(out, report, style);
    text.verdict(kPrefix);
    text.top_leaks(kPrefix);
    for (const Process& process : report.processes)
        out << kPrefix << "log: " << terminal_safe(process.log.string()) << '\n';
    out << kPrefix << "next: vramscope report " << logs_of(report) << '\n';
}

} // namespace vramscope::report
