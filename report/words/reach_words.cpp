// report/words/reach_words.cpp — verdicts, doubts and chains in words.
#include "report/words/reach_words.hpp"

#include <string_view>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string joined_chain(const ReachGroup& group, std::string_view between)
{
    std::string text;
    for (const std::string& step : group.chain)
        text += (text.empty() ? "" : std::string(between)) + terminal_safe(step);
    return text;
}

// The rest of a sentence about blocks.
std::string holder_words(const ReachGroup& group)
{
    const std::string chain = joined_chain(group, kChainArrow);
    switch (group.doubt) {
    case ReachDoubt::interior:
        return "only pointers into it were found: " + chain;
    case ReachDoubt::shape:
        return chain;
    case ReachDoubt::handle:
        return "it has no address to search for";
    case ReachDoubt::open:
        return "not all of its holders were looked at";
    case ReachDoubt::registers:
    case ReachDoubt::none:
        break;
    }
    if (group.verdict == Reached::held)
        return "by " + chain;
    const std::string unheld = joined_chain(group, " and ");
    return unheld.empty() ? "nothing that was searched points to it"
                          : "only " + unheld + ", which nothing leads to";
}

} // namespace

std::string in_blocks(const ReachSum& sum)
{
    return fmt::format("{} in {}", human_bytes(sum.bytes), counted(sum.blocks, "block"));
}

std::string reach_words(const ReachGroup& group)
{
    return in_blocks(group.sum) + ", " + holder_words(group);
}

} // namespace vramscope::report
