// report/ci_formats/junit.cpp — the XML that JUnit's ant task began, as CI servers read it.
#include <algorithm>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "report/ci_formats/ci_formats.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/words/check_words.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostStacks = 500; // beyond that a list of tests helps nobody

// For text and for values in quotes. What no XML 1.0 may hold is shown as terminals are shown it.
std::string xml(std::string_view text)
{
    std::string safe;
    for (const char c : text) {
        switch (c) {
        case '&':
            safe += "&amp;";
            break;
        case '<':
            safe += "&lt;";
            break;
        case '>':
            safe += "&gt;";
            break;
        case '"':
            safe += "&quot;";
            break;
        default:
            safe += c;
        }
    }
    for (const std::string_view noncharacter : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
        for (std::size_t at; (at = safe.find(noncharacter)) != std::string::npos;)
            safe.replace(at, noncharacter.size(), "?");
    return safe;
}

struct Case {
    std::string suite; // the class, in JUnit's words
    std::string name;
    std::string outcome; // "failure", "error", "skipped"; empty: passed
    std::string type;
    std::string message;
    std::string text;
    const Problem* problem = nullptr; // what it is of; null: of the run as a whole
};

std::string stack_text(const CallPlace* place)
{
    std::string text;
    if (!place)
        return text;
    for (const Frame& frame : place->stack)
        text += fmt::format("    {}  {}\n", function_of(frame), place_of(frame));
    return text;
}

std::string reach_text(const Problem& problem)
{
    std::string text;
    for (const std::string& line : problem.reach)
        text += "    " + line + '\n';
    return text;
}

class JunitCases {
public:
    explicit JunitCases(const CheckedRun& checked) : checked_(checked) {}

    std::vector<Case> budgets() const
    {
        std::vector<Case> cases;
        for (const CheckRow& row : checked_.check.rows)
            cases.push_back(budget(row));
        const std::vector<std::string> doubts = doubts_of(checked_.check);
        if (doubts.empty())
            return cases;
        Case whole{"vramscope.budgets", "the run shows all", excuse(), "inconclusive", {}, {}};
        whole.message = doubts.front();
        for (const std::string& doubt : doubts)
            whole.text += doubt + '\n';
        cases.push_back(std::move(whole));
        return cases;
    }

    std::vector<Case> stacks() const
    {
        std::vector<Case> cases;
        std::size_t left_out = 0;
        for (const Problem& problem : checked_.problems) {
            if (problem.severity != Severity::error || !problem.rule->amount)
                continue;
            if (cases.size() == kMostStacks) {
                ++left_out;
                continue;
            }
            cases.push_back(
                {std::string("vramscope.") + problem.rule->id, place_name(problem), "failure",
                 problem.rule->id, problem.message,
                 problem.message + '\n' + reach_text(problem) + stack_text(problem.place),
                 &problem});
        }
        if (left_out > 0)
            cases.push_back({"vramscope.more",
                             "more call stacks",
                             "failure",
                             "more",
                             fmt::format("{} are not listed here", counted(left_out, "more stack")),
                             {}});
        return cases;
    }

    // Those of the programs' own tests that are over their budgets, or did not end.
    std::vector<Case> tests() const
    {
        std::vector<Case> cases;
        for (const Problem& problem : checked_.problems)
            if (problem.test_row && cases.size() < kMostStacks)
                cases.push_back(test(problem));
        return cases;
    }

private:
    Case test(const Problem& problem) const
    {
        const TestCheck& row = *problem.test_row;
        const TestRow& told = checked_.report.processes[row.process].tests[row.test];
        Case found{"vramscope.tests", terminal_safe(told.name), "failure", "test", {}, {},
                   &problem};
        found.message = test_words(row, told);
        if (row.state == CheckState::unknown)
            found.outcome = excuse();
        for (const TestBreach& breach : row.breaches)
            for (const Culprit& culprit : breach.culprits)
                found.text += culprit_text(culprit);
        return found;
    }

    static std::string culprit_text(const Culprit& culprit)
    {
        return fmt::format("{} in {}: {}\n{}", human_bytes(culprit.bytes), grouped(culprit.count),
                           terminal_safe(culprit.place->api), stack_text(culprit.place));
    }

    Case budget(const CheckRow& row) const
    {
        Case found{"vramscope.budgets",
                   row.rule.empty() ? row.budget : row.called,
                   {},
                   row.budget,
                   {},
                   {}};
        if (row.state == CheckState::ok)
            return found;
        found.message = row_words(row) + failed_where(row, checked_.report);
        found.outcome = "failure";
        if (row.state == CheckState::unknown) {
            found.message += row.remark.empty() ? ": the run does not show it" : ": " + row.remark;
            found.outcome = excuse();
        }
        for (const Culprit& culprit : row.culprits)
            found.text += culprit_text(culprit);
        return found;
    }

    // --allow-inconclusive: what is not known then fails nothing.
    const char* excuse() const { return checked_.check.exit == Exit::ok ? "skipped" : "error"; }

    // Without numbers that change from run to run: servers compare tests by their names.
    static std::string place_name(const Problem& problem)
    {
        constexpr std::size_t kColumns = 160;
        const Frame* const own = problem.place->own_frame();
        return fmt::format("{} {} [{}]", terminal_safe(problem.place->api),
                           own ? shorten_function(function_of(*own), kColumns) : "(no stack)",
                           problem.fingerprint);
    }

    const CheckedRun& checked_;
};

// The numbers that a SARIF result has, under the same names.
void write_properties(std::ostream& out, const Problem& problem)
{
    const auto write = [&](std::string_view name, const auto& value) {
        out << fmt::format("        <property name=\"{}\" value=\"{}\"/>\n", name, value);
    };
    out << "      <properties>\n";
    write("fingerprint", problem.fingerprint);
    write("bytes", problem.bytes);
    if (problem.count > 0)
        write("count", problem.count);
    write("processes", problem.processes.size());
    out << "      </properties>\n";
}

void write_case(std::ostream& out, const Case& one)
{
    out << fmt::format("    <testcase classname=\"{}\" name=\"{}\"", xml(one.suite), xml(one.name));
    if (one.problem && one.problem->where.in_root)
        out << fmt::format(" file=\"{}\" line=\"{}\"", xml(terminal_safe(one.problem->where.path)),
                           std::max(one.problem->where.line, 1));
    if (one.outcome.empty()) {
        out << "/>\n";
        return;
    }
    out << ">\n";
    if (one.problem)
        write_properties(out, *one.problem);
    out << fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n",
                       one.outcome, xml(one.type), xml(one.message), xml(one.text));
}

std::string counts(const std::vector<Case>& cases)
{
    const auto of = [&](std::string_view outcome) {
        return std::count_if(cases.begin(), cases.end(),
                             [&](const Case& one) { return one.outcome == outcome; });
    };
    return fmt::format(R"(tests="{}" failures="{}" errors="{}" skipped="{}")", cases.size(),
                       of("failure"), of("error"), of("skipped"));
}

// What was found, whether it fails a case or not.
std::string said_of(const Report& report)
{
    std::string text;
    for (const Headline& headline : report.headlines)
        text += headline.sentence() + '\n';
    return text;
}

void write_suite(std::ostream& out, std::string_view name, const std::vector<Case>& cases,
                 const std::string& said = {})
{
    out << fmt::format("  <testsuite name=\"{}\" {}>\n", name, counts(cases));
    for (const Case& one : cases)
        write_case(out, one);
    if (!said.empty())
        out << "    <system-out>" << xml(said) << "</system-out>\n";
    out << "  </testsuite>\n";
}

} // namespace

void write_junit(std::ostream& out, const CheckedRun& checked)
{
    const JunitCases cases(checked);
    const std::vector<Case> budgets = cases.budgets();
    const std::vector<Case> stacks = cases.stacks();
    const std::vector<Case> tests = cases.tests();
    std::vector<Case> all = budgets;
    all.insert(all.end(), tests.begin(), tests.end());
    all.insert(all.end(), stacks.begin(), stacks.end());
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- " << kOwnMark << ' '
        << xml(checked.version) << " -->\n";
    out << "<testsuites name=\"vramscope\" " << counts(all) << ">\n";
    write_suite(out, "vramscope budgets", budgets, said_of(checked.report));
    if (!tests.empty())
        write_suite(out, "tests of the programs", tests);
    if (!stacks.empty())
        write_suite(out, "vramscope call stacks", stacks);
    out << "</testsuites>\n";
}

} // namespace vramscope::report
