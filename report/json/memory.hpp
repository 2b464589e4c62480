// report/json/memory.hpp — a device's memory in JSON: waterfalls, peak, timeline, advice.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/memory.hpp"

namespace vramscope::report {

Json waterfall_json(const Waterfall& parts);
Json device_memory_json(const MemoryReport& device);

} // namespace vramscope::report
