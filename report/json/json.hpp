// report/json/json.hpp — everything that is written as JSON, as the schemas beside this file say.
#pragma once

#include <iosfwd>

namespace vramscope::report {

struct Check;
struct Comparison;
struct Report;

void write_json(std::ostream& out, const Report& report); // report.schema.json
void write_check_json(std::ostream& out, const Check& check,
                      const Report& report); // check.schema.json
void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now); // diff.schema.json

} // namespace vramscope::report
