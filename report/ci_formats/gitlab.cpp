// report/ci_formats/gitlab.cpp — a report of code quality, as GitLab's merge requests show it.
#include <algorithm>
#include <ostream>

#include "report/ci_formats/ci_formats.hpp"
#include "report/json/write.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostIssues = 5000; // as many as SARIF has

const char* gitlab_severity(Severity severity)
{
    switch (severity) {
    case Severity::note:
        return "info";
    case Severity::warning:
        return "minor";
    case Severity::error:
        break;
    }
    return "major";
}

// The first member is how a file of ours is known: see own_output.cpp.
Json issue(std::string_view rule, const std::string& fingerprint, const std::string& text,
           const char* severity, const SourcePlace& where)
{
    return {
        {"check_name", "vramscope/" + std::string(rule)},
        {"description", text},
        {"fingerprint", std::string(rule) + ':' + fingerprint},
        {"severity", severity},
        {"location",
         {{"path", terminal_safe(where.path)}, {"lines", {{"begin", std::max(where.line, 1)}}}}}};
}

} // namespace

void write_gitlab(std::ostream& out, const CheckedRun& checked)
{
    Json issues = Json::array();
    const Check& check = checked.check;
    SourcePlace program;
    if (!checked.report.processes.empty())
        program = checked.paths.of_file(checked.report.processes.front().program, 0);
    const char* const doubtful = check.exit == Exit::ok ? "minor" : "major";
    std::size_t nth = 0;
    for (const std::string& doubt : doubts_of(check))
        issues.push_back(issue("inconclusive", std::to_string(++nth), doubt, doubtful, program));
    const std::size_t shown = std::min(kMostIssues, checked.problems.size());
    for (std::size_t at = 0; at < shown; ++at) {
        const Problem& problem = checked.problems[at];
        issues.push_back(issue(problem.rule->id, problem.fingerprint, problem.message,
                               gitlab_severity(problem.severity), problem.where));
    }
    if (shown < checked.problems.size())
        issues.push_back(issue("more", "1",
                               "only the first " + grouped(shown) + " of " +
                                   grouped(checked.problems.size()) + " problems are here",
                               "minor", program));
    if (issues.empty())
        out << kOwnEmptyList;
    else
        out << issues.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
}

} // namespace vramscope::report
