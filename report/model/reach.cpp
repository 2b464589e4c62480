// report/model/reach.cpp — groups of blocks, and what holds them as a sentence.
#include "report/model/reach.hpp"

namespace vramscope::report {
namespace {

std::string joined_chain(const ReachGroup& group, std::string_view between)
{
    std::string text;
    for (const std::string& step : group.chain)
        text.append(text.empty() ? "" : between).append(step);
    return text;
}

} // namespace

std::string ReachGroup::how() const
{
    if (doubt == ReachDoubt::handle)
        return "it has no address to search for";
    if (doubt == ReachDoubt::open)
        return "not all of its holders were looked at";
    if (doubt == ReachDoubt::view)
        return "a texture or surface object may be of it";
    const bool is_led_to =
        verdict == Reached::held || doubt == ReachDoubt::shape || doubt == ReachDoubt::interior;
    if (is_led_to)
        return (doubt == ReachDoubt::interior ? "only by pointers into it: " : "by ") +
               (chain.empty() ? "what the log does not say" : joined_chain(*this, kChainArrow));
    return chain.empty() ? "nothing that was searched points to it"
                         : "only " + joined_chain(*this, " and ") + ", which nothing leads to";
}

void add_group(std::vector<ReachGroup>& groups, const ReachGroup& group)
{
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const ReachGroup& known) {
        return known.verdict == group.verdict && known.doubt == group.doubt &&
               known.chain == group.chain;
    });
    if (same == groups.end())
        groups.push_back(group);
    else
        same->sum.add(group.sum);
}

} // namespace vramscope::report
