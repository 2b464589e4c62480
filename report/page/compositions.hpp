// report/page/compositions.hpp — what a device's memory was made of over time, as a page has it.
#pragma once

#include <cstddef>

#include "report/json/documents.hpp"
#include "report/model/memory/memory.hpp"

namespace vramscope::report {

// At most `parts` parts of all moments together: where there are more, neighbouring moments become
// one, and small call stacks are summed up. Of the largest stacks, with at most `lives` sums
// together, it is told when their blocks came and left.
Json compositions_json(const Compositions& compositions, std::size_t parts, std::size_t lives);

} // namespace vramscope::report
