// report/exporters/live_metrics.hpp — what running programs hold, for Prometheus.
//
// In its text format, for the folder of node_exporter's textfile collector. The labels are those of
// `export --to openmetrics`. There is none for a call stack, but for those that grow: at most ten
// of each program.
#pragma once

#include <string>
#include <vector>

#include "report/model/live.hpp"

namespace vramscope::report {

struct LiveMetrics {
    LiveState state;  // as it was seen last
    bool runs = true; // else it holds nothing any more: only its counters are told
};

std::string live_metrics(const std::vector<LiveMetrics>& programs);

} // namespace vramscope::report
