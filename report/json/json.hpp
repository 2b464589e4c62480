// report/json/json.hpp — everything that is written as JSON, and the schemas of it.
#pragma once

#include <iosfwd>
#include <string>

namespace vramscope::report {

struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Report;

void write_json(std::ostream& out, const Report& report);
void write_check_json(std::ostream& out, const Check& check, const Report& report);
void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now);
void write_plan_json(std::ostream& out, const Plan& plan);
void write_job_json(std::ostream& out, const Job& job);

// What `vramscope schema` prints.
std::string report_schema_text();
std::string check_schema_text();
std::string comparison_schema_text();
std::string plan_schema_text();
std::string job_schema_text();

} // namespace vramscope::report
