// report/findings/frameworks.hpp — whether buffers of frameworks are seen one by one.
#pragma once

#include <string>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/framework.hpp"

namespace vramscope::report {

// Those of tracker/format/frameworks.hpp that the process used.
std::vector<FrameworkUse> find_frameworks(const LogTables& tables);

// "allocator of JAX bypassed by XLA_PYTHON_CLIENT_ALLOCATOR=platform: ..."
std::string notice_about(const FrameworkUse& use);

} // namespace vramscope::report
