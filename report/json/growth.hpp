// report/json/growth.hpp — memory that grows, in JSON.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/growth.hpp"

namespace vramscope::report {

Json rate_json(const GrowthRate& rate); // null: it does not grow
Json growth_json(const Growth& growth);

} // namespace vramscope::report
