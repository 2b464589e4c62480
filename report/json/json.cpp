// report/json/json.cpp — documents as text.
#include "report/json/json.hpp"

#include <ostream>

#include "report/json/documents.hpp"

namespace vramscope::report {
namespace {

// Only ASCII comes out, and what is no UTF-8 is replaced, so any reader, even a terminal, can take
// it safely.
void print(std::ostream& out, const Json& document, const JsonStyle& style)
{
    out << document.dump(style.indented ? 2 : -1, ' ', true, Json::error_handler_t::replace)
        << '\n';
}

std::string text_of(const Json& schema)
{
    return schema.dump(2) + '\n';
}

} // namespace

void write_json(std::ostream& out, const Report& report, const JsonStyle& style)
{
    print(out, report_json(report, style.pool_blocks ? Audience::whole_file : Audience::file),
          style);
}

void write_check_json(std::ostream& out, const Check& check, const Report& report,
                      const JsonStyle& style)
{
    print(out, check_json(check, report, Audience::file), style);
}

void write_comparison_json(std::ostream& out, const Comparison& comparison, const Report& base,
                           const Report& now, const JsonStyle& style)
{
    print(out, comparison_json(comparison, base, now, Audience::file), style);
}

void write_plan_json(std::ostream& out, const Plan& plan, const JsonStyle& style)
{
    print(out, plan_json(plan, Audience::file), style);
}

void write_job_json(std::ostream& out, const Job& job, const JsonStyle& style)
{
    print(out, job_json(job, Audience::file), style);
}

void write_reach_json(std::ostream& out, const Reach& reach, const JsonStyle& style)
{
    print(out, reach_json(reach, Audience::file), style);
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

std::string reach_schema_text()
{
    return text_of(reach_schema());
}

} // namespace vramscope::report
