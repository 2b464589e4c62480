// report/page/compositions.hpp — what a device's memory was made of over time, as a page has it.
#pragma once

#include <cstddef>

#include "report/model/memory.hpp"
#include "report/page/tables.hpp"

namespace vramscope::report {

// At most `parts` parts of all moments together: where there are more, neighbouring moments become
// one, and small call stacks are summed up.
Json page_compositions(const Compositions& compositions, std::size_t parts, PageTables& tables);

} // namespace vramscope::report
