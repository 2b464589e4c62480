// report/exporters/metrics.cpp — a report's sums and peaks as gauges.
//
// Gauges have one form in the text format of Prometheus and in OpenMetrics.
#include <string>

#include "report/exporters/exported_report.hpp"
#include "report/exporters/metric_text.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// The metrics of a process.
class Metrics {
public:
    explicit Metrics(const Process& process)
        : labels_(process_labels(process.program, process.pid, process.info_value("rank"),
                                 process.info_value("job")))
    {
    }

    void begin(const char* name, const char* help) { text_.begin(name, help); }

    template <typename Number>
    void sample(Number number, const std::string& more_labels = {})
    {
        text_.sample(more_labels.empty() ? labels_ : labels_ + "," + more_labels, number);
    }

    template <typename Number>
    void only(const char* name, const char* help, Number number)
    {
        begin(name, help);
        sample(number);
    }

    std::string finish() { return text_.take() + "# EOF\n"; }

private:
    const std::string labels_;
    MetricText text_;
};

void add_devices(Metrics& metrics, const Process& process)
{
    const auto each = [&](const char* name, const char* help, auto read) {
        if (process.memory.empty())
            return;
        metrics.begin(name, help);
        for (const MemoryReport& device : process.memory)
            metrics.sample(read(device),
                           device_labels(device.device, process.info_value(fmt::format(
                                                            "device.{}.uuid", device.device))));
    };
    each("peak_allocated_bytes", kPeakHelp,
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
    metrics.only("growth_bytes_per_second", kGrowthHelp, per_second);
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

void export_metrics(const std::filesystem::path& log, const Sink& sink,
                    const ExportOptions& options)
{
    sink(metrics_of(report_for_export(log, options)));
}

} // namespace vramscope::report
