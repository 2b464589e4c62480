// report/findings/memory/compositions.hpp — the spans of a device's time become rows, with stacks.
#pragma once

#include <vector>

#include "report/findings/places/log_source.hpp"
#include "report/model/memory.hpp"
#include "report/replay/span_peaks.hpp"

namespace vramscope::report {

// Of so many call stacks the parts are told; what others had is in the sums alone.
inline constexpr std::size_t kMostComposingSites = 1024;

Compositions find_compositions(const std::vector<SpanPeak>& spans, const Sites& sites,
                               const LeakSource& log);

} // namespace vramscope::report
