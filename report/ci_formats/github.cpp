// report/ci_formats/github.cpp — annotations and the page of a job of GitHub Actions.
#include <algorithm>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "report/ci_formats/ci_formats.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/words/check_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostOfAKind = 10; // annotations that GitHub shows of a step, by kind
constexpr std::size_t kMostRows = 50;    // of the page's table

// A line of the log is a command if it begins with "::". Percent signs and ends of lines are
// encoded in what it says, and in its properties also what ends those.
std::string encoded(std::string_view text, bool property)
{
    std::string safe;
    for (const char c : text) {
        const bool special =
            c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
        safe += special ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
    }
    return safe;
}

const char* command_of(Severity severity)
{
    return severity == Severity::note ? "notice" : name(severity);
}

void write_command(std::ostream& out, const char* kind, const std::string& title,
                   const SourcePlace& where, const std::string& text)
{
    out << "::" << kind << ' ';
    if (where.in_root && where.line > 0)
        out << fmt::format("file={},line={},", encoded(terminal_safe(where.path), true),
                           where.line);
    out << "title=" << encoded(title, true) << "::" << encoded(text, false) << '\n';
}

class Annotations {
public:
    Annotations(std::ostream& out, const CheckedRun& checked) : out_(out), checked_(checked) {}

    void of(Severity severity)
    {
        std::vector<const Problem*> problems;
        for (const Problem& problem : checked_.problems)
            if (problem.severity == severity)
                problems.push_back(&problem);
        const std::size_t doubts = severity == doubtful() ? write_doubts() : 0;
        const std::size_t room = kMostOfAKind - doubts;
        const std::size_t shown = problems.size() > room ? room - 1 : problems.size();
        for (std::size_t at = 0; at < shown; ++at)
            write_command(out_, command_of(severity),
                          std::string("vramscope: ") + problems[at]->rule->id, problems[at]->where,
                          problems[at]->message);
        if (shown < problems.size())
            write_command(out_, command_of(severity), "vramscope", {},
                          fmt::format("{}: the text of this step has them",
                                      counted(problems.size() - shown, "more finding")));
    }

private:
    Severity doubtful() const
    {
        return checked_.check.exit == Exit::ok || checked_.check.exit == Exit::findings
                   ? Severity::warning
                   : Severity::error;
    }

    // In one annotation: reasons are few, and belong together.
    std::size_t write_doubts()
    {
        std::string text;
        for (const std::string& doubt : doubts_of(checked_.check))
            text += doubt + '\n';
        if (text.empty())
            return 0;
        text.pop_back();
        write_command(out_, command_of(doubtful()), "vramscope: inconclusive", {}, text);
        return 1;
    }

    std::ostream& out_;
    const CheckedRun& checked_;
};

// As it is read, whatever it holds: Markdown gives no meaning to characters written by number.
std::string markdown_text(std::string_view text)
{
    std::string safe;
    for (const char c : text) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == ' ' ||
                          static_cast<unsigned char>(c) >= 0x80;
        safe += word ? std::string(1, c) : fmt::format("&#{};", static_cast<int>(c));
    }
    return safe;
}

std::string check_headline(const Check& check)
{
    switch (check.verdict) {
    case Check::Verdict::passed:
        return "passed";
    case Check::Verdict::failed:
        return "failed";
    case Check::Verdict::nothing_observed:
        return "inconclusive: nothing was observed";
    case Check::Verdict::inconclusive:
        break;
    }
    return "inconclusive: nothing is over budget, but the run does not show that it is kept";
}

void write_problem_table(std::ostream& out, const std::vector<Problem>& problems)
{
    if (problems.empty())
        return;
    out << "\n| finding | what | where |\n|---|---|---|\n";
    const std::size_t shown = std::min(kMostRows, problems.size());
    for (std::size_t at = 0; at < shown; ++at) {
        const Problem& problem = problems[at];
        const std::string line =
            problem.where.line > 0 ? fmt::format(":{}", problem.where.line) : "";
        out << fmt::format("| {} ({}) | {} | {} |\n", problem.rule->id, name(problem.severity),
                           markdown_text(problem.message),
                           markdown_text(terminal_safe(problem.where.path) + line));
    }
    if (shown < problems.size())
        out << fmt::format("\n{}\n", counted(problems.size() - shown, "more finding"));
}

} // namespace

void write_github_annotations(std::ostream& out, const CheckedRun& checked)
{
    Annotations annotations(out, checked);
    for (const Severity severity : {Severity::error, Severity::warning, Severity::note})
        annotations.of(severity);
}

void write_github_summary(std::ostream& out, const CheckedRun& checked)
{
    const Check& check = checked.check;
    out << "### vramscope: " << check_headline(check) << "\n\n";
    for (const std::string& doubt : doubts_of(check))
        out << "- " << markdown_text(doubt) << '\n';
    for (const Headline& headline : checked.report.headlines)
        if (headline.is_finding())
            out << "- " << markdown_text(headline.sentence()) << '\n';
    out << "\n| budget | measured | limit | state |\n|---|--:|---|---|\n";
    for (const CheckRow& row : check.rows)
        out << fmt::format(
            "| {} | {} | {} | {} |\n", row.called, measured_words(row), limit_words(row),
            row.state == CheckState::unknown ? "not known"
                                             : name(row.state) + failed_where(row, checked.report));
    write_problem_table(out, checked.problems);
    out << '\n';
}

} // namespace vramscope::report
