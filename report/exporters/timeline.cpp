// report/exporters/timeline.cpp — the report's timeline and sums, as tables for other programs.
//
// The timeline has 256 spans of a device at most: each has its last values and its peaks, so no
// peak is lost, and only its exact moment is. Metrics are gauges, which have one form in the text
// format of Prometheus and in OpenMetrics.
#include <algorithm>

#include <fmt/format.h>

#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/model/report.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

Report report_for(const std::filesystem::path& log, const ExportOptions& options)
{
    Options reading;
    reading.progress = options.progress;
    reading.symbols = options.symbols;
    return make_report({log}, reading);
}

std::string quoted_label(std::string_view text)
{
    std::string quoted = "\"";
    for (const char c : terminal_safe(text)) {
        if (c == '"' || c == '\\')
            quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

// One metric with its samples.
class Gauge {
public:
    Gauge(std::string& out, const char* name, const char* help) : out_(out), name_(name)
    {
        out_ += fmt::format("# HELP vramscope_{0} {1}\n# TYPE vramscope_{0} gauge\n", name, help);
    }

    template <typename Number>
    Gauge& value(Number number, const std::string& labels = {})
    {
        out_ += fmt::format("vramscope_{}{} {}\n", name_, labels.empty() ? "" : '{' + labels + '}',
                            number);
        return *this;
    }

private:
    std::string& out_;
    const char* name_;
};

std::string on(const MemoryReport& device)
{
    return device.device < 0 ? "device=\"unknown\"" : fmt::format("device=\"{}\"", device.device);
}

void write_device_metrics(std::string& out, const Process& process)
{
    const auto each = [&](const char* name, const char* help, auto read) {
        if (process.memory.empty())
            return;
        Gauge gauge(out, name, help);
        for (const MemoryReport& device : process.memory)
            gauge.value(read(device), on(device));
    };
    each("peak_allocated_bytes", "Most memory of a device that was allocated at once.",
         [](const MemoryReport& device) { return device.peak_allocated(); });
    each("peak_reserved_bytes", "The same, with what the pool kept.",
         [](const MemoryReport& device) { return device.peak_reserved(); });
    each("peak_requested_bytes", "The same, as the program asked for it.",
         [](const MemoryReport& device) { return device.requested.peak; });
}

void write_growth_metrics(std::string& out, const Report& report)
{
    double per_second = 0;
    for (const Growth& row : report.growth)
        per_second += row.rate.bytes_per_second;
    Gauge(out, "growth_bytes_per_second", "How fast all that grows does, together.")
        .value(per_second);
}

std::string metrics_of(const Report& report)
{
    const Process& process = report.processes.front();
    const Totals& totals = report.totals;
    std::string out;
    Gauge(out, "verdict", "What the run shows: clean, leaks or inconclusive.")
        .value(1, fmt::format("verdict={},program={}", quoted_label(name(report.verdict)),
                              quoted_label(process.program)));
    Gauge(out, "leaked_bytes", "Memory that was never freed.").value(totals.leaked_bytes);
    Gauge(out, "leaked_blocks", "Allocations that were never freed.").value(totals.leaked_blocks);
    Gauge(out, "suppressed_bytes", "Memory that was never freed and is known for it.")
        .value(totals.suppressed_bytes);
    Gauge(out, "unclosed_imports", "Memory of others that was opened and never closed.")
        .value(totals.unclosed_imports);
    if (!totals.leaked_by_memory.empty()) {
        Gauge kinds(out, "leaked_by_memory_bytes", "Memory that was never freed, by its kind.");
        for (const MemoryTotal& total : totals.leaked_by_memory)
            kinds.value(total.bytes, fmt::format("memory=\"{}\"", name(total.memory)));
    }
    Gauge(out, "allocations", "Allocations that succeeded.").value(totals.allocations);
    Gauge(out, "frees", "Frees that succeeded.").value(totals.frees);
    Gauge(out, "driver_calls", "Allocations and frees that reached the driver.")
        .value(driver_calls(process));
    Gauge(out, "out_of_memory", "Allocations that failed for want of memory.")
        .value(process.shortage_count);
    Gauge(out, "lost_events", "Events that the log lacks.").value(report.coverage.lost_events());
    Gauge(out, "duration_seconds", "From the log's opening to its last event.")
        .value(static_cast<double>(process.duration_ns) / 1e9);
    write_growth_metrics(out, report);
    write_device_metrics(out, process);
    return out + "# EOF\n";
}

} // namespace

void export_timeline(const std::filesystem::path& log, const Sink& sink,
                     const ExportOptions& options)
{
    const Report report = report_for(log, options);
    sink(std::string(kOwnTimelineHead) +
         "peak_allocated_bytes,active_bytes,reserved_bytes,peak_reserved_bytes,used_bytes\n");
    for (const MemoryReport& device : report.processes.front().memory)
        for (const MemoryTime& time : device.timeline)
            sink(fmt::format("{},{},{},{},{},{},{},{}\n", time.ns,
                             device.device < 0 ? "" : std::to_string(device.device), time.allocated,
                             time.peak_allocated, time.active, time.reserved, time.peak_reserved,
                             time.used ? std::to_string(*time.used) : ""));
}

void export_metrics(const std::filesystem::path& log, const Sink& sink,
                    const ExportOptions& options)
{
    sink(metrics_of(report_for(log, options)));
}

} // namespace vramscope::report
