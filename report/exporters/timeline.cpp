// report/exporters/timeline.cpp — the report's timeline, as a table for other programs.
//
// It has 256 spans of a device at most: each has its last values and its peaks, so no peak is lost,
// and only its exact moment is.
#include <fmt/format.h>

#include "report/exporters/exported_report.hpp"
#include "report/exporters/exporters.hpp"
#include "report/words/own_output.hpp"

namespace vramscope::report {

void export_timeline(const std::filesystem::path& log, const Sink& sink,
                     const ExportOptions& options)
{
    const Report report = report_for_export(log, options);
    sink(std::string(kOwnTimelineHead) +
         "peak_allocated_bytes,active_bytes,reserved_bytes,peak_reserved_bytes,used_bytes\n");
    for (const MemoryReport& device : report.processes.front().memory)
        for (const MemoryTime& time : device.timeline)
            sink(fmt::format("{},{},{},{},{},{},{},{}\n", time.ns,
                             device.device < 0 ? "" : std::to_string(device.device), time.allocated,
                             time.peak_allocated, time.active, time.reserved, time.peak_reserved,
                             time.used ? std::to_string(*time.used) : ""));
}

} // namespace vramscope::report
