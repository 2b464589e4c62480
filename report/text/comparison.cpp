// report/text/comparison.cpp — before and after in columns, then what changed, by call stack.
#include "report/model/comparison.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/output.hpp"
#include "report/text/views.hpp"
#include "report/words/frame_words.hpp"
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

std::string in_words(const std::string& name)
{
    if (name == "peak_bytes")
        return "peak allocated"; // beside "peak reserved"
    std::string words = name.substr(0, name.rfind("_bytes"));
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

class ComparisonWriter : public TextOutput {
public:
    ComparisonWriter(std::ostream& out, const Comparison& comparison, const TextStyle& style)
        : TextOutput(out, style), comparison_(comparison)
    {
    }

    void verdict()
    {
        switch (comparison_.verdict) {
        case Comparison::Verdict::worse:
            out_ << painted("WORSE", kRed) << ": " << what_is_worse() << '\n';
            break;
        case Comparison::Verdict::better:
            out_ << painted("BETTER", kGreen) << ": fewer leaks, and nothing is worse\n";
            break;
        case Comparison::Verdict::same:
            out_ << painted("NOT WORSE", kGreen) << ": the same leaks, no higher peak\n";
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
                "  {:<16}{:>14}{:>14}{:>14}{}\n", in_words(number.name),
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

    void leaks()
    {
        if (comparison_.leaks.empty() && comparison_.same_leaks == 0)
            return;
        out_ << fmt::format("\n{}: {} new, {} grown, {} shrunk, {} gone, {} as before\n",
                            painted("Leaks", "1"), count(Change::added), count(Change::grown),
                            count(Change::shrunk), count(Change::gone), comparison_.same_leaks);
        const std::size_t shown = std::min(kMostPlaces, comparison_.leaks.size());
        for (std::size_t at = 0; at < shown; ++at)
            place(comparison_.leaks[at], "block");
        if (shown < comparison_.leaks.size())
            out_ << "  ... and " << counted(comparison_.leaks.size() - shown, "more call stack")
                 << '\n';
    }

private:
    const ComparedNumber& number(std::string_view name) const
    {
        return *std::find_if(comparison_.numbers.begin(), comparison_.numbers.end(),
                             [&](const ComparedNumber& number) { return number.name == name; });
    }

    void first_places(const char* heading, const std::vector<ComparedPlace>& places,
                      const char* noun)
    {
        constexpr std::size_t kMost = 5;
        if (places.empty())
            return;
        out_ << '\n' << painted(heading, "1") << '\n';
        for (std::size_t at = 0; at < std::min(kMost, places.size()); ++at)
            place(places[at], noun);
    }

    std::size_t count(Change change) const
    {
        return static_cast<std::size_t>(
            std::count_if(comparison_.leaks.begin(), comparison_.leaks.end(),
                          [&](const ComparedPlace& place) { return place.change == change; }));
    }

    std::string what_is_worse() const
    {
        std::string text;
        const auto add = [&](const std::string& part) {
            text += (text.empty() ? "" : "; ") + part;
        };
        if (const std::size_t added = count(Change::added))
            add(counted(added, "new leak"));
        if (const std::size_t grown = count(Change::grown))
            add(counted(grown, "leak") + (grown == 1 ? " that has" : " that have") + " grown");
        for (const ComparedNumber& number : comparison_.numbers)
            if (number.regressed)
                add(in_words(number.name) + " " + difference(number.base, number.now, number.unit));
        return text;
    }

    void place(const ComparedPlace& place, const char* noun)
    {
        line(fmt::format("  {:<7}{:>11} in {:<12} {}  ", name(place.change),
                         difference(place.base_bytes, place.new_bytes, CheckUnit::bytes),
                         difference(place.base_count, place.new_count, noun),
                         terminal_safe(place.place->api)),
             *place.place);
    }

    const Comparison& comparison_;
};

} // namespace

void write_comparison(std::ostream& out, const Comparison& comparison, const Report& now,
                      const TextStyle& style)
{
    ComparisonWriter text(out, comparison, style);
    text.verdict();
    text.numbers();
    text.peak();
    text.churn();
    text.leaks();
    write_unread_files(text, now);
    const bool leaked = !now.leaks.empty() || !now.imports.empty();
    out << "\nNext: vramscope " << (leaked ? "leaks " : "report ") << arguments_of(now) << '\n';
}

} // namespace vramscope::report
