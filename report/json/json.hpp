// report/json/json.hpp — everything that is written as JSON, and the schemas of it.
#pragma once

#include <iosfwd>
#include <string>

namespace vramscope::report {

struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Reach;
struct Report;

struct JsonStyle {
    bool indented = true;     // else one line
    bool pool_blocks = false; // of a report: the blocks of the pool's segments too
};

void write_json(std::ostream& out, const Report& report, const JsonStyle& style = {});
void write_check_json(std::ostream& out, const Check& check, const Report& report,
                      const JsonStyle& style = {});
void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now, const JsonStyle& style = {});
void write_plan_json(std::ostream& out, const Plan& plan, const JsonStyle& style = {});
void write_job_json(std::ostream& out, const Job& job, const JsonStyle& style = {});
void write_reach_json(std::ostream& out, const Reach& reach, const JsonStyle& style = {});

// What `vramscope schema` prints.
std::string report_schema_text();
std::string check_schema_text();
std::string comparison_schema_text();
std::string plan_schema_text();
std::string job_schema_text();
std::string reach_schema_text();

} // namespace vramscope::report
