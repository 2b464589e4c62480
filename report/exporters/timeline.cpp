// report/exporters/timeline.cpp — the report's timeline and sums, as tables for other programs.
//
// The timeline has 256 spans of a device at most: each has its last values and its peaks, so no
// peak is lost, and only its exact moment is. Metrics are gauges, which have one form in the text
// format of Prometheus and in OpenMetrics.
#include <algorithm>
#include <utility>

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

std::string metric_label(std::string_view name, std::string_view value)
{
    return fmt::format("{}={}", name, quoted_label(value));
}

// What tells the samples of one process from those of others: files of several lie in one folder
// of node_exporter, which drops what is there twice.
std::string labels_of(const Process& process)
{
    const std::string rank = process.info_value("rank");
    const std::string job = process.info_value("job");
    std::string labels = metric_label("program", process.program) + "," +
                         (rank.empty() ? metric_label("pid", std::to_string(process.pid))
                                       : metric_label("rank", rank));
    if (!job.empty())
        labels += "," + metric_label("job", job);
    return labels;
}

// As NVIDIA's exporter of DCGM names a device.
std::string labels_of(const Process& process, std::int32_t device)
{
    if (device < 0)
        return metric_label("gpu", "unknown");
    const std::string uuid = process.info_value(fmt::format("device.{}.uuid", device));
    return metric_label("gpu", std::to_string(device)) +
           (uuid.empty() ? "" : "," + metric_label("UUID", uuid));
}

// The metrics of a process.
class Metrics {
public:
    explicit Metrics(const Process& process) : labels_(labels_of(process)) {}

    void begin(const char* name, const char* help)
    {
        name_ = name;
        out_ += fmt::format("# HELP vramscope_{0} {1}\n# TYPE vramscope_{0} gauge\n", name, help);
    }

    template <typename Number>
    void sample(Number number, const std::string& more_labels = {})
    {
        out_ += fmt::format("vramscope_{}{{{}{}{}}} {}\n", name_, labels_,
                            more_labels.empty() ? "" : ",", more_labels, number);
    }

    template <typename Number>
    void only(const char* name, const char* help, Number number)
    {
        begin(name, help);
        sample(number);
    }

    std::string finish() { return std::move(out_) + "# EOF\n"; }

private:
    const std::string labels_;
    const char* name_ = "";
    std::string out_;
};

void add_devices(Metrics& metrics, const Process& process)
{
    const auto each = [&](const char* name, const char* help, auto read) {
        if (process.memory.empty())
            return;
        metrics.begin(name, help);
        for (const MemoryReport& device : process.memory)
            metrics.sample(read(device), labels_of(process, device.device));
    };
    each("peak_allocated_bytes", "Most memory of a device that was allocated at once.",
         [](const MemoryReport& device) { return device.peak_allocated(); });
    each("peak_reserved_bytes", "The same, with what the pool kept.",
         [](const MemoryReport& device) { return device.peak_reserved(); });
    each("peak_requested_bytes", "The same, as the program asked for it.",
         [](const MemoryReport& device) { return device.requested.peak; });
}

void add_growth(Metrics& metrics, const Report& report)
{
    double per_second = 0;
    for (const Growth& row : report.growth)
        per_second += row.rate.bytes_per_second;
    metrics.only("growth_bytes_per_second", "How fast all that grows does, together.", per_second);
}

std::string metrics_of(const Report& report)
{
    const Process& process = report.processes.front();
    const Totals& totals = report.totals;
    Metrics metrics(process);
    metrics.begin("verdict", "What the run shows: clean, leaks or inconclusive.");
    metrics.sample(1, metric_label("verdict", name(report.verdict)));
    metrics.only("leaked_bytes", "Memory that was never freed.", totals.leaked_bytes);
    metrics.only("leaked_blocks", "Allocations that were never freed.", totals.leaked_blocks);
    metrics.only("suppressed_bytes", "Memory that was never freed and is known for it.",
                 totals.suppressed_bytes);
    metrics.only("unclosed_imports", "Memory of others that was opened and never closed.",
                 totals.unclosed_imports);
    if (!totals.leaked_by_memory.empty()) {
        metrics.begin("leaked_by_memory_bytes", "Memory that was never freed, by its kind.");
        for (const MemoryTotal& total : totals.leaked_by_memory)
            metrics.sample(total.bytes, metric_label("memory", name(total.memory)));
    }
    metrics.only("allocations", "Allocations that succeeded.", totals.allocations);
    metrics.only("frees", "Frees that succeeded.", totals.frees);
    metrics.only("driver_calls", "Allocations and frees that reached the driver.",
                 driver_calls(process));
    metrics.only("out_of_memory", "Allocations that failed for want of memory.",
                 process.shortage_count);
    metrics.only("lost_events", "Events that the log lacks.", report.coverage.lost_events());
    metrics.only("duration_seconds", "From the log's opening to its last event.",
                 static_cast<double>(process.duration_ns) / 1e9);
    add_growth(metrics, report);
    add_devices(metrics, process);
    return metrics.finish();
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
