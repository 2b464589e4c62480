// report/text/plan/scale.cpp — what one more of a dimension costs, and how many a card is for.
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string largest_words(const PlanScale& scale, const PlanScaledCard& card)
{
    if (!scale.reserved_line.straight)
        return "not known: these runs lie on no line";
    if (!card.largest)
        return "none, or no end";
    if (!card.least)
        return grouped(*card.largest) + "; how sure that is, two runs do not tell";
    if (card.least == card.most)
        return grouped(*card.largest);
    return fmt::format("{}, between {} and {} in 95 of 100 cases", grouped(*card.largest),
                       grouped(*card.least), grouped(*card.most));
}

} // namespace

void write_plan_scale(TextOutput& out, const Plan& plan)
{
    if (!plan.scale)
        return;
    const PlanScale& scale = *plan.scale;
    const std::string dimension = terminal_safe(scale.dimension);
    out.stream() << '\n' << out.painted("By " + dimension, "1") << '\n';
    for (std::size_t at = 0; at < scale.values.size(); ++at)
        out.stream() << fmt::format("  {} {:<8} {:>10} live, {:>10} of the card\n", dimension,
                                    scale.values[at], human_bytes(scale.live[at]),
                                    human_bytes(scale.reserved[at]));
    out.wrapped("", "  Live: ", line_words(scale.live_line, dimension));
    out.wrapped("", "  Of the card: ", line_words(scale.reserved_line, dimension));
    for (const PlanScaledCard& card : scale.cards)
        out.wrapped("", fmt::format("  Largest {} on {}: ", dimension, human_bytes(card.bytes)),
                    largest_words(scale, card));
    for (const PlanScaledStack& row : scale.stacks)
        out.line(fmt::format("  {:>10} each, {:>10} fixed  ", signed_bytes(row.line.each),
                             signed_bytes(row.line.fixed)),
                 row);
}

} // namespace vramscope::report
