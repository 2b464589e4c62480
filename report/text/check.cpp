// report/text/check.cpp — one line per budget.
#include "report/model/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/model/ranks.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/view.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostCulpritLines = 4; // for all budgets together
constexpr std::size_t kMostCheckDoubts = 3;
constexpr std::size_t kMostNamed = 4; // processes in one line

std::string what(const CheckRow& row)
{
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {{
        {"max-peak", "peak allocated"},
        {"max-reserved", "peak reserved"},
        {"max-driver-calls", "driver calls"},
        {"oom", "out of memory"},
        {"failed-calls", "failed calls"},
        {"unclosed-imports", "unclosed imports"},
    }};
    for (const auto& [budget, words] : kWords)
        if (row.budget == budget)
            return std::string(words);
    return row.budget.starts_with("max-") ? row.budget.substr(4) : row.budget;
}

std::string measured_amount(double value, CheckUnit unit)
{
    const auto whole = static_cast<std::uint64_t>(std::min(std::round(value), 0x1p63));
    switch (unit) {
    case CheckUnit::bytes:
        return human_bytes(whole);
    case CheckUnit::bytes_per_step:
        return human_bytes(whole) + "/step";
    case CheckUnit::bytes_per_call:
        return human_bytes(whole) + "/call";
    case CheckUnit::bytes_per_second:
        return human_bytes(whole) + "/s";
    case CheckUnit::percent:
        return fmt::format("{:.1f} %", value);
    case CheckUnit::count:
        break;
    }
    return grouped(whole);
}

class CheckWriter : public TextOutput {
public:
    CheckWriter(std::ostream& out, const Check& check, const Report& report, const TextStyle& style)
        : TextOutput(out, style), check_(check), report_(report), ranks_(report.ranks.rows)
    {
    }

    void verdict(std::string_view prefix)
    {
        out_ << prefix;
        switch (check_.verdict) {
        case Check::Verdict::passed:
            out_ << painted("PASSED", kGreen) << ": "
                 << (check_.rows.size() == 1
                         ? in_words(check_.rows.front())
                         : fmt::format("all {} budgets are kept", check_.rows.size()))
                 << '\n';
            break;
        case Check::Verdict::failed:
            out_ << painted("FAILED", kRed) << ": " << failures() << '\n';
            break;
        case Check::Verdict::nothing_observed:
            out_ << painted("INCONCLUSIVE", kYellow) << ": no CUDA memory call was seen\n";
            break;
        case Check::Verdict::inconclusive:
            out_ << painted("INCONCLUSIVE", kYellow)
                 << ": nothing is over budget, but the run does not show that it is kept\n";
            break;
        }
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

    void rows(std::string_view prefix, bool with_culprits)
    {
        std::size_t room = with_culprits ? kMostCulpritLines : 0;
        for (const CheckRow& row : check_.rows) {
            out_ << prefix
                 << fmt::format("  {:<16} {:>14}  {:<24}", what(row),
                                measured_amount(row.measured, row.unit), limit(row))
                 << state(row) << '\n';
            for (const Culprit& culprit : row.culprits) {
                if (row.state == CheckState::ok || room == 0)
                    break;
                --room;
                this->culprit(prefix, row, culprit);
            }
        }
        if (const std::string known = suppressed(report_); !known.empty())
            out_ << prefix << "  suppressed: " << known << '\n';
    }

    void next()
    {
        write_unread_files(*this, report_);
        const bool leaked =
            std::any_of(check_.rows.begin(), check_.rows.end(), [](const CheckRow& row) {
                return row.budget == "max-leaked" && row.state == CheckState::failed;
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
    static std::string limit(const CheckRow& row)
    {
        if (row.limit == 0 && row.unit == CheckUnit::count)
            return "none allowed";
        return "at most " + measured_amount(row.limit, row.unit);
    }

    std::string in_words(const CheckRow& row) const
    {
        return fmt::format("{} {}, {}", what(row), measured_amount(row.measured, row.unit),
                           limit(row));
    }

    std::string failures() const
    {
        std::string text;
        for (const CheckRow& row : check_.rows)
            if (row.state == CheckState::failed)
                text += fmt::format("{}{}{}", text.empty() ? "" : "; ", in_words(row), where(row));
        return text;
    }

    std::string state(const CheckRow& row) const
    {
        switch (row.state) {
        case CheckState::ok:
            return painted("ok", kGreen);
        case CheckState::failed:
            return painted("FAILED", kRed) + in(row);
        case CheckState::unknown:
            break;
        }
        return painted("not known", kYellow);
    }

    // For the first line, which names one process, and no list.
    std::string where(const CheckRow& row) const
    {
        return row.failed.size() < 2 ? in(row)
                                     : fmt::format(" in {} of {} processes", row.failed.size(),
                                                   report_.processes.size());
    }

    // " in rank 1, rank 3"; nothing, where there is one process.
    std::string in(const CheckRow& row) const
    {
        if (report_.processes.size() < 2)
            return {};
        std::string names;
        const std::size_t shown = std::min(kMostNamed, row.failed.size());
        for (std::size_t at = 0; at < shown; ++at)
            names += (at == 0 ? " in " : ", ") + label(row.failed[at]);
        if (shown < row.failed.size())
            names += fmt::format(" and {} more", row.failed.size() - shown);
        return names;
    }

    std::string label(std::size_t process) const
    {
        for (const RankRow& row : ranks_)
            if (row.process == process && row.rank)
                return fmt::format("rank {}", *row.rank);
        return fmt::format("process {}", report_.processes[process].pid);
    }

    void culprit(std::string_view prefix, const CheckRow& row, const Culprit& culprit)
    {
        const std::string noun = row.unit == CheckUnit::count ? "call" : "block";
        const std::string what =
            culprit.most_bytes > 0
                ? tries_of(culprit.count, culprit.least_bytes, culprit.most_bytes)
                : fmt::format("{:>12} in {}", human_bytes(culprit.bytes),
                              counted(culprit.count, noun));
        line(fmt::format("{}    {:<27} {}  ", prefix, what, terminal_safe(culprit.place->api)),
             *culprit.place);
    }

    const Check& check_;
    const Report& report_;
    std::vector<RankRow> ranks_;
};

} // namespace

void write_check(std::ostream& out, const Check& check, const Report& report,
                 const TextStyle& style)
{
    CheckWriter text(out, check, report, style);
    text.verdict("");
    text.doubts("");
    text.rows("", true);
    text.next();
}

void write_check_summary(std::ostream& out, const Check& check, const Report& report,
                         const TextStyle& style)
{
    constexpr std::string_view kPrefix = "vramscope: ";
    CheckWriter text(out, check, report, style);
    text.rows(kPrefix, false);
    text.doubts(kPrefix);
    text.verdict("vramscope: check ");
}

} // namespace vramscope::report
