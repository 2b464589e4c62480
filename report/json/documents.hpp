// report/json/documents.hpp — what json.hpp prints, as documents in memory.
//
// Within major version 1 members are only added: `vramscope schema` says what they mean. A page is
// made of the same documents, with the members that are for it alone.
#pragma once

#include "report/json/write.hpp"

namespace vramscope::report {

struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Reach;
struct Report;

Json report_json(const Report& report, Audience audience);
Json check_json(const Check& check, const Report& report, Audience audience);
Json comparison_json(const Comparison& comparison, const Report& base, const Report& now,
                     Audience audience);
Json plan_json(const Plan& plan, Audience audience);
Json job_json(const Job& job, Audience audience);
Json reach_json(const Reach& reach, Audience audience);

// Their schemas, made of the descriptions of their rows.
Json report_schema();
Json check_schema();
Json comparison_schema();
Json plan_schema();
Json job_schema();
Json reach_schema();

} // namespace vramscope::report
