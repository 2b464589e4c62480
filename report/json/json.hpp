// report/json/json.hpp — everything that is written as JSON, as the schemas beside this file say.
#pragma once

#include <iosfwd>

namespace vramscope::report {

struct Check;
struct Comparison;
struct Plan;
struct Report;

// As report.schema.json says.
void write_json(std::ostream& out, const Report& report);
// As check.schema.json says.
void write_check_json(std::ostream& out, const Check& check, const Report& report);
// As diff.schema.json says.
void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now);
// As plan.schema.json says.
void write_plan_json(std::ostream& out, const Plan& plan);

} // namespace vramscope::report
