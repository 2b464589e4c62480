// report/page/documents.hpp — the documents of JSON, with what only a page says beside them.
//
// What is here is said in words of words/, which JSON leaves to its readers.
#pragma once

#include "report/json/documents.hpp"

namespace vramscope::report {

struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Report;

Json check_document(const Check& check, const Report& report);
// With the timeline of the run before, in as many points as an eye can tell apart.
Json comparison_document(const Comparison& comparison, const Report& base, const Report& now);
Json plan_document(const Plan& plan);
Json job_document(const Job& job);

} // namespace vramscope::report
