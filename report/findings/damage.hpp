// report/findings/damage.hpp — memory that was written while it was free, or beyond a block.
//
// Each row has the stacks of the allocation, of the free, and of the moment at which the pool
// noticed. Cases are one row when process, kind and the visible stacks agree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "report/findings/misuse.hpp"
#include "report/model/damage.hpp"
#include "report/replay/damage.hpp"

namespace vramscope::report {

// Rows are in the order of their first moments.
std::vector<Damage> find_damage(const std::vector<LoggedDamage>& logged, const CallSource& source);

} // namespace vramscope::report
