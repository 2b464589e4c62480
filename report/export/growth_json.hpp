// report/export/growth_json.hpp — memory that grows, in JSON.
#pragma once

#include "report/analyze/growth.hpp"
#include "report/export/json_parts.hpp"

namespace vramscope::report {

Json rate_json(const GrowthRate& rate); // null: it does not grow
Json growth_json(const Growth& growth);

} // namespace vramscope::report
