// report/exporters/exporters.hpp — a log in the formats of other programs.
//
// Memory goes with stacks and live blocks, not with events. The sink is given whole pieces, in
// order; what it throws ends the export. Error (bad_input) for a file that is no readable log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

using Sink = std::function<void(std::string_view)>;

struct ExportOptions {
    bool all_frames = false;                       // heaptrack, pprof: see Options::all_frames
    std::optional<int> device;                     // heaptrack, pprof: only memory of this one
    std::function<void(double fraction)> progress; // may be empty
    SymbolizerOptions symbols;
    // Called at the end with the modules whose frames got no names; may be empty.
    std::function<void(const std::vector<UnreadFile>&)> unread_files;
};

// Every record, one JSON object a line, as report/json/events.schema.json says.
void export_events(const std::filesystem::path& log, const Sink& sink,
                   const ExportOptions& options = {});

// Device memory for heaptrack_print and heaptrack_gui: the text of their file version 1.
void export_heaptrack(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options = {});

// Device and host memory by stack for `go tool pprof`: profile.proto, gzipped.
void export_pprof(const std::filesystem::path& log, const Sink& sink,
                  const ExportOptions& options = {});

} // namespace vramscope::report
