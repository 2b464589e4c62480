// report/exporters/exporters.hpp — a log in the formats of other programs.
//
// Memory goes with stacks and live blocks, not with events. The sink is given whole pieces, in
// order; what it throws ends the export. Error (bad_input): the file is not a readable log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

using Sink = std::function<void(std::string_view)>;

// What the lines of folded stacks have; speedscope's file has both.
enum class FoldedSum { never_freed, allocated };

struct ExportOptions {
    FoldedSum folded = FoldedSum::never_freed;
    bool all_frames = false;   // where there are stacks: see Options::all_frames
    std::optional<int> device; // where there are stacks: only memory of this one
    std::function<void(double fraction)> progress; // may be empty
    SymbolizerOptions symbols;
    // Called at the end with the modules whose frames got no names; may be empty.
    std::function<void(const std::vector<UnreadFile>&)> unread_files;
};

// Every record, one JSON object a line, as the schema says.
void export_events(const std::filesystem::path& log, const Sink& sink,
                   const ExportOptions& options = {});
std::string events_schema();

// Device memory for heaptrack_print and heaptrack_gui: the text of their file version 1.
void export_heaptrack(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options = {});

// Device and host memory by stack for `go tool pprof`: profile.proto, gzipped.
void export_pprof(const std::filesystem::path& log, const Sink& sink,
                  const ExportOptions& options = {});

// Flame graphs, of what was never freed or of all that was allocated: a line for each stack,
// "outer;…;inner BYTES".
void export_folded(const std::filesystem::path& log, const Sink& sink,
                   const ExportOptions& options = {});

// For speedscope: what was never freed and all that was allocated, in bytes and in blocks.
void export_speedscope(const std::filesystem::path& log, const Sink& sink,
                       const ExportOptions& options = {});

// Trace events as Chrome defined them, for Perfetto: the life of each block, marks, and counters of
// each device from the report's timeline.
void export_trace(const std::filesystem::path& log, const Sink& sink,
                  const ExportOptions& options = {});

// What was never freed, a paragraph for each block, and what was freed or written wrongly, in the
// words of compute-sanitizer's memcheck.
void export_sanitizer(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options = {});

// A memory snapshot of PyTorch (a pickle of protocol 4), for memory_viz and what else reads those:
// device memory of any kind, its events and what was there at the end.
void export_torch_snapshot(const std::filesystem::path& log, const Sink& sink,
                           const ExportOptions& options = {});

// The report's timeline as comma-separated values: a line for each span of time and device.
void export_timeline(const std::filesystem::path& log, const Sink& sink,
                     const ExportOptions& options = {});

// Every block as comma-separated values: when it came and went, its bytes, and what allocated it.
void export_blocks(const std::filesystem::path& log, const Sink& sink,
                   const ExportOptions& options = {});

// A report's sums and peaks as gauges, for Prometheus, node_exporter's textfile collector, GitLab.
void export_metrics(const std::filesystem::path& log, const Sink& sink,
                    const ExportOptions& options = {});

} // namespace vramscope::report
