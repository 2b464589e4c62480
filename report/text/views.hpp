// report/text/views.hpp — the printers of a report, one per format.
//
// Text leads with the verdict and is safe for a terminal: control characters that come from logs or
// binaries are escaped. JSON follows report.schema.json beside this file.
#pragma once

#include <cstddef>
#include <ostream>

namespace vramscope::report {

struct Report;

struct TextStyle {
    bool color = false; // the caller looks at the terminal and at NO_COLOR
    std::size_t width = 100;
    std::size_t max_leaks = 0; // rows of the leak list; 0: all
};

// Everything.
void write_report(std::ostream& out, const Report& report, const TextStyle& style = {});
// The verdict and the leaks.
void write_leaks(std::ostream& out, const Report& report, const TextStyle& style = {});
// How each device's memory was made up.
void write_fragmentation(std::ostream& out, const Report& report, const TextStyle& style = {});
// What each device's peak was made of.
void write_peak(std::ostream& out, const Report& report, const TextStyle& style = {});
// A chart of each device.
void write_timeline(std::ostream& out, const Report& report, const TextStyle& style = {});
// What allocating costs, and where.
void write_churn(std::ostream& out, const Report& report, const TextStyle& style = {});
// What a running program holds now.
void write_snapshot(std::ostream& out, const Report& report, const TextStyle& style = {});
// The end of what `vramscope run` prints.
void write_summary(std::ostream& out, const Report& report, const TextStyle& style = {});

} // namespace vramscope::report
