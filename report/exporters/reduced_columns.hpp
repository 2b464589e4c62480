// report/exporters/reduced_columns.hpp — what the lines of a reduced table have, for the writer and
// for the schema.
#pragma once

#include <string_view>

namespace vramscope::report {

// A member of a line, or a column of its rows.
struct ReducedValue {
    std::string_view name;
    std::string_view type; // of JSON Schema; "text?" and "number?" may be null, "texts" is a list
    std::string_view says = {};
};

inline constexpr ReducedValue kReducedProcess[] = {
    {"log", "text"},
    {"pid", "number"},
    {"parent_pid", "number"},
    {"program", "text?"},
    {"command", "text?"},
    {"host", "text?"},
    {"job", "text?", "As the batch system, or else the launcher, names it."},
    {"launcher", "text?"},
    {"rank", "number?"},
    {"local_rank", "number?"},
    {"world_size", "number?"},
    {"started", "text?", "UTC."},
    {"started_ns", "number", "The same, since 1970; 0: not known."},
    {"duration_ns", "number"},
    {"end", "text", "How the process ended: the rest of a sentence about it."},
    {"exit_status", "number?", "null: it came to no end of its own, or an exec replaced it."},
    {"crashed", "flag"},
    {"replaced", "flag", "By exec: what came then has the same pid, and a log of its own."},
    {"verdict", "text", "clean, leaks or inconclusive."},
    {"verdict_reasons", "texts"},
    {"findings", "texts", "A sentence for each kind, what hurts most first."},
    {"finding_kinds", "texts", "Of each of these sentences, as in the report."},
    {"finding_titles", "texts", "The first words of each."},
    {"allocations", "number"},
    {"frees", "number"},
    {"leaked_bytes", "number"},
    {"leaked_blocks", "number"},
    {"peak_device_bytes", "number", "Requested, on all devices together."},
    {"out_of_memory_count", "number"},
    {"lost_events", "number", "Not 0: all sums of this process may be too small."},
};

inline constexpr ReducedValue kReducedDevice[] = {
    {"device", "number?", "As the process numbers it; null: not known."},
    {"name", "text?"},
    {"uuid", "text?"},
    {"total_bytes", "number", "0: not known."},
    {"peak_allocated_bytes", "number"},
    {"peak_reserved_bytes", "number"},
    {"peak_requested_bytes", "number"},
};

inline constexpr ReducedValue kReducedTimeline[] = {
    {"device", "number", "-1: not known."},
    {"ns", "number", "The end of the span."},
    {"peak_allocated_bytes", "number"},
    {"peak_reserved_bytes", "number"},
};

inline constexpr ReducedValue kReducedTexts[] = {
    {"text", "text", "Numbered from 0 through all lines of the process."}};

inline constexpr ReducedValue kReducedFrames[] = {
    {"up", "number",
     "How many rows before this one the frame that called it stands; 0: none is known."},
    {"function", "number", "A text, shortened; of what has no name, module and offset."},
    {"line", "number", "0: not known."},
    {"file", "number",
     "A text: the file, or the module where the file is not known. A row that ends before has the "
     "one of its caller."},
};

inline constexpr ReducedValue kReducedSites[] = {
    {"fingerprint", "text?",
     "As in the report: two lines of one caller have the same. A number: that of this site, "
     "counted "
     "from 0 through all lines of the process."},
    {"frame", "number?", "The innermost one of its call stack; null: it has none."},
    {"own", "number", "How many frames outwards the one is that a reader is told first."},
    {"api", "number", "A text."},
    {"memory", "number", "A text."},
    {"device", "number", "-1: not known."},
    {"allocations", "number"},
    {"allocated_bytes", "number"},
    {"peak_bytes", "number", "The most at once, or no less than that."},
    {"at_peak_bytes", "number",
     "When the most was allocated on the device. Behind this one a row may end: what it lacks is "
     "0."},
    {"unfreed", "number", "Of the allocations."},
    {"live_bytes", "number", "At the end of the log."},
    {"live_blocks", "number"},
    {"leaked_bytes", "number"},
    {"leaked_blocks", "number"},
    {"class", "text?", "As in the report's leaks; null: nothing leaked."},
    {"growth_bytes_per_step", "number"},
    {"step", "number", "A text: what it grows per."},
    {"growth_bytes_per_second", "number"},
};

} // namespace vramscope::report
