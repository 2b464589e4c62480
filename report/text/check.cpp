// report/text/check.cpp — one line per budget.
#include "report/model/check.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostCulpritLines = 4; // for all budgets together
constexpr std::size_t kMostCheckDoubts = 3;
constexpr std::size_t kMostTestLines = 10;
constexpr std::size_t kMostTestNames = 3; // in the first line

class CheckWriter : public TextOutput {
public:
    CheckWriter(std::ostream& out, const Check& check, const Report& report, const TextStyle& style)
        : TextOutput(out, style), check_(check), report_(report)
    {
    }

    void verdict(std::string_view prefix, std::string_view head)
    {
        wrapped(prefix, head, verdict_words());
    }

    void doubts(std::string_view prefix)
    {
        const std::size_t shown = std::min(kMostCheckDoubts, check_.doubts.size());
        for (std::size_t at = 0; at < shown; ++at)
            wrapped(prefix, check_.verdict == Check::Verdict::failed ? "  besides, " : "  because ",
                    terminal_safe(check_.doubts[at]));
        if (shown < check_.doubts.size())
            out_ << prefix << "  ... and " << check_.doubts.size() - shown << " more reasons\n";
    }

    // Whether a line of the budget speaks of it or not.
    void findings(std::string_view prefix)
    {
        for (const Headline& headline : report_.headlines)
            if (headline.is_finding())
                wrapped(prefix, "  found: ", headline.sentence());
    }

    void rows(std::string_view prefix, bool with_culprits)
    {
        std::size_t room = with_culprits ? kMostCulpritLines : 0;
        std::size_t width = 16;
        for (const CheckRow& row : check_.rows)
            width = std::max(width, columns(called(row)));
        for (const CheckRow& row : check_.rows) {
            const std::string name = called(row);
            out_ << prefix
                 << fmt::format("  {}{} {:>14}  {:<24}", name,
                                std::string(width - columns(name), ' '), measured_words(row),
                                limit_words(row))
                 << state(row) << '\n';
            if (with_culprits && row.state != CheckState::ok)
                room -= culprits(prefix, row, std::min(room, row.culprits.size()));
        }
        if (const std::string known = suppressed(report_); !known.empty())
            out_ << prefix << "  suppressed: " << known << '\n';
        for (const RuleUse& use : report_.suppressions)
            if (use.rows == 0) // it may have been written for what this run did not do, or wrongly
                wrapped(prefix, "  not used: ", rule_in_words(use.rule));
    }

    // Those over their budgets, and those that did not end.
    void tests(std::string_view prefix, bool with_culprits)
    {
        if (check_.tests == 0)
            return;
        out_ << prefix
             << fmt::format("  {:<16} {:>14}  {}\n", "tests", grouped(check_.tests),
                            fmt::format("{} over budget, {} not known",
                                        grouped(check_.failed_tests),
                                        grouped(check_.unknown_tests)));
        const std::size_t shown = std::min(kMostTestLines, check_.test_rows.size());
        for (std::size_t at = 0; at < shown; ++at)
            test(prefix, check_.test_rows[at], with_culprits);
        if (shown < check_.test_rows.size())
            out_ << prefix << "    ... and "
                 << counted(check_.test_rows.size() - shown, "more test") << '\n';
    }

    void next()
    {
        write_unread_files(*this, report_);
        const bool leaked =
            std::any_of(check_.rows.begin(), check_.rows.end(), [](const CheckRow& row) {
                return row.finding == Finding::leaks && row.state == CheckState::failed;
            });
        const bool blind = check_.verdict == Check::Verdict::nothing_observed;
        if (blind && !report_.processes.empty())
            out_ << "Next: vramscope doctor "
                 << terminal_safe(shell_quoted(report_.processes.front().log.string())) << '\n';
        else
            out_ << "Next: vramscope " << (leaked ? "leaks " : "report ") << arguments_of(report_)
                 << '\n';
    }

private:
    // A rule of --forbid is called by its own words.
    static std::string called(const CheckRow& row)
    {
        constexpr std::size_t kMostColumns = 36;
        const std::string name = terminal_safe(row.called);
        return columns(name) > kMostColumns ? cut_at_end(name, kMostColumns) : name;
    }

    std::string verdict_words() const
    {
        switch (check_.verdict) {
        case Check::Verdict::passed:
            return painted("PASSED", kGreen) + ": " +
                   (check_.rows.size() == 1
                        ? row_words(check_.rows.front())
                        : fmt::format("all {} budgets are kept", check_.rows.size()));
        case Check::Verdict::failed:
            return painted("FAILED", kRed) + ": " + failures();
        case Check::Verdict::nothing_observed:
            return painted("INCONCLUSIVE", kYellow) + ": no CUDA memory call was seen";
        case Check::Verdict::inconclusive:
            break;
        }
        return painted("INCONCLUSIVE", kYellow) +
               ": nothing is over budget, but the run does not show that it is kept";
    }

    std::string failures() const
    {
        std::string text;
        for (const CheckRow& row : check_.rows)
            if (row.state == CheckState::failed)
                text += fmt::format("{}{}{}", text.empty() ? "" : "; ", row_words(row), where(row));
        return text + failed_tests(text.empty() ? "" : "; ");
    }

    // "2 tests are over budget: Pool.Caches, Pool.Grows"
    std::string failed_tests(std::string_view before) const
    {
        if (check_.failed_tests == 0)
            return {};
        std::string names;
        const std::uint64_t named = std::min<std::uint64_t>(check_.failed_tests, kMostTestNames);
        for (std::size_t at = 0; at < named; ++at)
            names += (at == 0 ? "" : ", ") + name_of(check_.test_rows[at]);
        if (named < check_.failed_tests)
            names += fmt::format(" and {} more", check_.failed_tests - named);
        return fmt::format("{}{} {} over budget: {}", before, counted(check_.failed_tests, "test"),
                           check_.failed_tests == 1 ? "is" : "are", names);
    }

    const TestRow& test_of(const TestCheck& row) const
    {
        return report_.processes[row.process].tests[row.test];
    }
    std::string name_of(const TestCheck& row) const { return terminal_safe(test_of(row).name); }

    void test(std::string_view prefix, const TestCheck& row, bool with_culprits)
    {
        out_ << prefix << "    " << name_of(row) << ": " << test_words(row, test_of(row)) << "  "
             << (row.state == CheckState::failed ? painted("FAILED", kRed)
                                                 : painted("not known", kYellow))
             << '\n';
        if (!with_culprits || row.breaches.empty() || row.breaches.front().culprits.empty())
            return;
        const Culprit& first = row.breaches.front().culprits.front();
        line(fmt::format("{}      {:>12} in {}  {}  ", prefix, human_bytes(first.bytes),
                         counted(first.count, "block"), terminal_safe(first.place->api)),
             *first.place);
    }

    std::string state(const CheckRow& row) const
    {
        switch (row.state) {
        case CheckState::ok:
            return painted("ok", kGreen);
        case CheckState::failed:
            return painted("FAILED", kRed) + failed_where(row, report_);
        case CheckState::unknown:
            break;
        }
        return painted("not known", kYellow);
    }

    // For the first line, which names one process, and no list.
    std::string where(const CheckRow& row) const
    {
        return row.failed.size() < 2 ? failed_where(row, report_)
                                     : fmt::format(" in {} of {} processes", row.failed.size(),
                                                   report_.processes.size());
    }

    // What has no bytes is an object of the driver's, a context or a call.
    static std::string culprit_words(const CheckRow& row, const Culprit& culprit)
    {
        if (culprit.most_bytes > 0)
            return tries_of(culprit.count, culprit.least_bytes, culprit.most_bytes);
        const char* const noun = row.unit == CheckUnit::count ? "call" : "block";
        return culprit.bytes == 0 ? fmt::format("{:>12}", counted(culprit.count, "time"))
                                  : fmt::format("{:>12} in {}", human_bytes(culprit.bytes),
                                                counted(culprit.count, noun));
    }

    // The first so many of them; returns that number.
    std::size_t culprits(std::string_view prefix, const CheckRow& row, std::size_t shown)
    {
        std::vector<ShownRow> rows;
        for (std::size_t at = 0; at < shown; ++at)
            rows.push_back({row.culprits[at].place});
        const RowHeadlines headlines(rows, report_);
        for (std::size_t at = 0; at < shown; ++at) {
            const Culprit& culprit = row.culprits[at];
            const std::string what = culprit_words(row, culprit);
            const std::string in =
                report_.processes.size() > 1 ? process_name(report_, culprit.process) + ": " : "";
            const std::string head = fmt::format("{}    {:<27} {}{}  ", prefix, what, in,
                                                 terminal_safe(culprit.place->api));
            out_ << head << headlines.in(at, room_behind(columns(head))) << '\n';
        }
        if (const std::size_t more = row.culprits.size() - shown + row.more_culprits; more > 0)
            out_ << prefix << "    ... and " << counted(more, "more call stack") << '\n';
        return shown;
    }

    const Check& check_;
    const Report& report_;
};

} // namespace

void write_check(std::ostream& out, const Check& check, const Report& report,
                 const TextStyle& style)
{
    CheckWriter text(out, check, report, style);
    text.verdict("", "");
    text.doubts("");
    text.findings("");
    text.rows("", true);
    text.tests("", true);
    text.next();
}

void write_check_summary(std::ostream& out, const Check& check, const Report& report,
                         const TextStyle& style)
{
    constexpr std::string_view kPrefix = "vramscope: ";
    CheckWriter text(out, check, report, style);
    text.rows(kPrefix, false);
    text.tests(kPrefix, false);
    text.doubts(kPrefix);
    text.verdict(kPrefix, "check ");
}

} // namespace vramscope::report
