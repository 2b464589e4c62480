// report/text/plan/scale.cpp — what one more of a dimension costs, and how many a card is for.
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
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
                    !card.largest ? "none, or no end"
                    : card.least == card.most
                        ? grouped(*card.largest)
                        : fmt::format("{}, between {} and {}", grouped(*card.largest),
                                      grouped(card.least), grouped(card.most)));
    for (const PlanScaledStack& row : scale.stacks)
        out.line(fmt::format("  {:>10} each, {:>10} fixed  ", signed_bytes(row.line.each),
                             signed_bytes(row.line.fixed)),
                 row);
}

} // namespace vramscope::report
