// report/page/processes.hpp — each process and its devices, as a page has them.
#pragma once

#include "report/model/report.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

Json page_timeline(const std::vector<MemoryTime>& times);
Json page_processes(const Report& report, PageTables& tables);

} // namespace vramscope::report
