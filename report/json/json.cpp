// report/json/json.cpp — documents as text.
#include "report/json/json.hpp"

#include <ostream>

#include "report/json/documents.hpp"

namespace vramscope::report {
namespace {

// Only ASCII comes out, and what is no UTF-8 is replaced, so any reader, even a terminal, can take
// it safely.
void print(std::ostream& out, const Json& document)
{
    out << document.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

std::string text_of(const Json& schema)
{
    return schema.dump(2) + '\n';
}

} // namespace

void write_json(std::ostream& out, const Report& report)
{
    print(out, report_json(report, Audience::file));
}

void write_check_json(std::ostream& out, const Check& check, const Report& report)
{
    print(out, check_json(check, report, Audience::file));
}

void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now)
{
    print(out, comparison_json(comparison, base, now, Audience::file));
}

void write_plan_json(std::ostream& out, const Plan& plan)
{
    print(out, plan_json(plan, Audience::file));
}

void write_job_json(std::ostream& out, const Job& job)
{
    print(out, job_json(job, Audience::file));
}

std::string report_schema_text()
{
    return text_of(report_schema());
}

std::string check_schema_text()
{
    return text_of(check_schema());
}

std::string comparison_schema_text()
{
    return text_of(comparison_schema());
}

std::string plan_schema_text()
{
    return text_of(plan_schema());
}

std::string job_schema_text()
{
    return text_of(job_schema());
}

} // namespace vramscope::report
