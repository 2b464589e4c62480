// report/text/comparison.cpp — before and after in columns, then what changed, by call stack.
#include "report/model/comparison.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/row_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostPlaces = 20;
constexpr std::size_t kMostCompareDoubts = 4;

std::string compared_amount(std::uint64_t value, CheckUnit unit)
{
    return unit == CheckUnit::bytes ? human_bytes(value) : grouped(value);
}

// "+6.2 MiB"
std::string difference(std::uint64_t base, std::uint64_t now, CheckUnit unit)
{
    return now < base ? "-" + compared_amount(base - now, unit)
                      : "+" + compared_amount(now - base, unit);
}

// "+1 block"
std::string difference(std::uint64_t base, std::uint64_t now, const char* noun)
{
    return now < base ? "-" + counted(base - now, noun) : "+" + counted(now - base, noun);
}

std::string in_words(const ComparedNumber& number)
{
    if (number.device >= 0)
        return fmt::format("peak, device {}", number.device);
    if (number.name == "peak_bytes")
        return "peak allocated"; // beside "peak reserved"
    std::string words = number.name.substr(0, number.name.rfind("_bytes"));
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

class ComparisonWriter : public TextOutput {
public:
    ComparisonWriter(std::ostream& out, const Comparison& comparison, const Report& now,
                     const TextStyle& style)
        : TextOutput(out, style), comparison_(comparison), now_(now)
    {
    }

    void verdict()
    {
        switch (comparison_.verdict) {
        case Comparison::Verdict::worse:
            wrapped("", "", painted("WORSE", kRed) + ": " + what_is_worse());
            break;
        case Comparison::Verdict::better:
            wrapped("", "",
                    fmt::format("{}: {}, and nothing is worse", painted("BETTER", kGreen),
                                what_changed({Change::shrunk, Change::gone})));
            break;
        case Comparison::Verdict::same:
            out_ << painted("NOT WORSE", kGreen) << ": the same findings, no higher peak\n";
            break;
        case Comparison::Verdict::nothing_observed:
            out_ << painted("INCONCLUSIVE", kYellow) << ": no CUDA memory call was seen\n";
            break;
        case Comparison::Verdict::inconclusive:
            out_ << painted("INCONCLUSIVE", kYellow)
                 << ": the logs do not show whether anything became worse\n";
            break;
        }
        const std::size_t shown = std::min(kMostCompareDoubts, comparison_.doubts.size());
        for (std::size_t at = 0; at < shown; ++at)
            wrapped("", "  because ", terminal_safe(comparison_.doubts[at]));
        if (shown < comparison_.doubts.size())
            out_ << "  ... and " << comparison_.doubts.size() - shown << " more reasons\n";
    }

    void numbers()
    {
        out_ << fmt::format("\n{:<18}{:>14}{:>14}{:>14}\n", "", "base", "new", "change");
        for (const ComparedNumber& number : comparison_.numbers) {
            if (number.base == 0 && number.now == 0)
                continue;
            out_ << fmt::format(
                "  {:<16}{:>14}{:>14}{:>14}{}\n", in_words(number),
                compared_amount(number.base, number.unit), compared_amount(number.now, number.unit),
                number.base == number.now ? "=" : difference(number.base, number.now, number.unit),
                number.regressed ? "  " + painted("worse", kRed) : "");
        }
    }

    // The call stacks that made the peak higher, where it is.
    void peak()
    {
        const ComparedNumber& peak = number("peak_bytes");
        if (peak.now > peak.base)
            first_places("At the peak", comparison_.peak, "block");
    }

    // The call stacks that allocate more often, where that is much.
    void churn()
    {
        constexpr std::uint64_t kMuch = 16;
        const ComparedNumber& allocations = number("allocations");
        if (allocations.now > allocations.base + kMuch || number("driver_calls").regressed)
            first_places("Allocations", comparison_.churn, "call");
    }

    void findings()
    {
        if (comparison_.findings.empty())
            return;
        out_ << '\n' << painted("Findings", "1") << '\n';
        rows(comparison_.findings, kMostPlaces, [](const ComparedFinding& found) {
            return fmt::format("  {:<7}{:<16}{:<24}  ", name(found.change), found.kind,
                               amount(found));
        });
    }

    void leaks()
    {
        if (comparison_.leaks.empty() && comparison_.same_leaks == 0)
            return;
        out_ << fmt::format("\n{}: {} new, {} grown, {} shrunk, {} gone, {} as before\n",
                            painted("Leaks", "1"), count(Change::added), count(Change::grown),
                            count(Change::shrunk), count(Change::gone), comparison_.same_leaks);
        places(comparison_.leaks, kMostPlaces, "block");
    }

private:
    const ComparedNumber& number(std::string_view name) const
    {
        return *std::find_if(comparison_.numbers.begin(), comparison_.numbers.end(),
                             [&](const ComparedNumber& number) { return number.name == name; });
    }

    void first_places(const char* heading, const std::vector<ComparedPlace>& some, const char* noun)
    {
        constexpr std::size_t kMost = 5;
        if (some.empty())
            return;
        out_ << '\n' << painted(heading, "1") << '\n';
        const std::size_t shown = std::min(kMost, some.size());
        places({some.begin(), some.begin() + static_cast<std::ptrdiff_t>(shown)}, kMost, noun);
    }

    // Of a newer run that is not known in full, what is more may be no change.
    bool is_proven(Change change) const
    {
        return now_.reasons.empty() || (change != Change::added && change != Change::grown);
    }

    std::size_t count(Change change) const
    {
        return static_cast<std::size_t>(
            std::count_if(comparison_.leaks.begin(), comparison_.leaks.end(),
                          [&](const ComparedPlace& place) { return place.change == change; }));
    }

    std::string what_is_worse() const
    {
        std::string text = what_changed({Change::added, Change::grown});
        for (const ComparedNumber& number : comparison_.numbers)
            if (number.regressed && !is_told(number.kind))
                text += (text.empty() ? "" : "; ") + in_words(number) + " " +
                        difference(number.base, number.now, number.unit);
        return text;
    }

    bool is_told(const std::string& kind) const
    {
        return std::any_of(comparison_.findings.begin(), comparison_.findings.end(),
                           [&](const ComparedFinding& found) { return found.kind == kind; });
    }

    // "1 new leak; 2 leaks that have grown; growth: 1 new".
    std::string what_changed(std::initializer_list<Change> changes) const
    {
        std::vector<std::string> parts;
        for (const Change change : changes)
            if (const std::size_t leaks = count(change); leaks > 0 && is_proven(change))
                parts.push_back(leaks_that(change, leaks));
        for (const Change change : changes)
            for (const auto& [kind, rows] : findings_with(change))
                parts.push_back(fmt::format("{}: {} {}", kind, rows, name(change)));
        return fmt::format("{}", fmt::join(parts, "; "));
    }

    static std::string leaks_that(Change change, std::size_t leaks)
    {
        if (change == Change::added)
            return counted(leaks, "new leak");
        if (change == Change::gone)
            return counted(leaks, "leak") + " gone";
        return fmt::format("{} that {} {}", counted(leaks, "leak"), leaks == 1 ? "has" : "have",
                           change == Change::grown ? "grown" : "shrunk");
    }

    std::vector<std::pair<std::string, std::size_t>> findings_with(Change change) const
    {
        std::vector<std::pair<std::string, std::size_t>> kinds;
        for (const ComparedFinding& found : comparison_.findings) {
            if (found.change != change || !(found.proven || is_proven(change)))
                continue;
            if (kinds.empty() || kinds.back().first != found.kind)
                kinds.emplace_back(found.kind, 0);
            ++kinds.back().second;
        }
        return kinds;
    }

    static std::string amount(const ComparedFinding& found)
    {
        if (const GrowthRate* const rate = found.new_rate ? found.new_rate : found.base_rate)
            return rate_words(*rate);
        return difference(found.base_count, found.new_count, "time");
    }

    void places(const std::vector<ComparedPlace>& some, std::size_t most, const char* noun)
    {
        rows(some, most, [noun](const ComparedPlace& place) {
            return fmt::format("  {:<7}{:>11} in {:<12} {}  ", name(place.change),
                               difference(place.base_bytes, place.new_bytes, CheckUnit::bytes),
                               difference(place.base_count, place.new_count, noun),
                               terminal_safe(place.place->api));
        });
    }

    // Rows of equal words are told apart by their callers.
    template <typename Row, typename Head>
    void rows(const std::vector<Row>& all, std::size_t most, Head head_of)
    {
        std::vector<ShownRow> calls;
        for (std::size_t at = 0; at < std::min(kComparedRows, all.size()); ++at)
            calls.push_back({all[at].place});
        const RowHeadlines headlines(calls, now_);
        const std::size_t shown = std::min(most, all.size());
        for (std::size_t at = 0; at < shown; ++at) {
            const std::string head = head_of(all[at]);
            out_ << head << headlines.in(at, room_behind(columns(head))) << '\n';
        }
        if (shown < all.size())
            out_ << "  ... and " << counted(all.size() - shown, "more call stack") << '\n';
    }

    const Comparison& comparison_;
    const Report& now_;
};

} // namespace

void write_comparison(std::ostream& out, const Comparison& comparison, const Report& now,
                      const TextStyle& style)
{
    ComparisonWriter text(out, comparison, now, style);
    text.verdict();
    text.numbers();
    text.findings();
    text.peak();
    text.churn();
    text.leaks();
    write_compared_holdings(text, comparison);
    write_unread_files(text, now);
    const bool leaked = !now.leaks.empty() || !now.imports.empty();
    out << "\nNext: vramscope " << (leaked ? "leaks " : "report ") << arguments_of(now) << '\n';
}

} // namespace vramscope::report
