// report/findings/frameworks.hpp — whether buffers of frameworks are seen one by one.
#pragma once

#include <string>
#include <vector>

#include "report/log/log_tables.hpp"
#include "report/model/framework.hpp"

namespace vramscope::report {

// Those that the process used, when the log has been replayed: PyTorch, those of
// tracker/format/frameworks.hpp, and heaps that told of blocks.
std::vector<FrameworkUse> find_frameworks(const LogTables& tables);

// "allocator of JAX bypassed by XLA_PYTHON_CLIENT_ALLOCATOR=platform: ..."; empty: its allocator
// told of its blocks, or had none.
std::string notice_about(const FrameworkUse& use);

} // namespace vramscope::report
