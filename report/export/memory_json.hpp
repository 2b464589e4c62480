// report/export/memory_json.hpp — a device's memory in JSON: waterfalls, peak, timeline, advice.
#pragma once

#include "report/analyze/device_report.hpp"
#include "report/export/json_parts.hpp"

namespace vramscope::report {

Json waterfall_json(const Waterfall& parts);
Json device_memory_json(const DeviceReport& device);

} // namespace vramscope::report
