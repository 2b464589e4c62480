// report/text/plan/policies.cpp — a row for each policy, and where it runs out of memory.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string smallest_of(const PlanPolicy& policy)
{
    if (!policy.searched)
        return "-";
    return policy.smallest_card ? human_bytes(*policy.smallest_card) : "none";
}

std::string why_short(const PlanShortage& shortage, std::uint64_t card, std::uint64_t base)
{
    const std::uint64_t taken = base + shortage.reserved + shortage.beside;
    const std::uint64_t left = card - std::min(card, taken);
    const std::uint64_t unused = shortage.reserved - shortage.allocated;
    if (shortage.is_beside)
        return fmt::format("it is asked of the driver, and {} are left", human_bytes(left));
    if (left + unused < shortage.requested)
        return fmt::format("all that is free together are {}", human_bytes(left + unused));
    return fmt::format("{} are free, but the largest piece has {}", human_bytes(left + unused),
                       human_bytes(std::max(left, shortage.largest_free)));
}

} // namespace

void write_plan_policies(TextOutput& out, const Plan& plan, const PlanDevice& device)
{
    std::size_t names = 6;
    for (const PlanPolicy& row : device.policies)
        names = std::max(names, columns(policy_words(row)));
    out.stream() << fmt::format("  {:<{}}  {:>10} {:>8} {:>10}  {:>13}", "policy", names,
                                "reserved", "unused", "calls", "smallest card");
    for (const std::uint64_t card : plan.cards)
        out.stream() << fmt::format("  {:>10}", "on " + human_bytes(card));
    out.stream() << '\n';
    for (const PlanPolicy& row : device.policies) {
        out.stream() << fmt::format("  {:<{}}  {:>10} {:>8} {:>10}  {:>13}",
                                    terminal_safe(policy_words(row)), names,
                                    human_bytes(row.peak_reserved), percent(row.fragmentation()),
                                    grouped(row.device_calls), smallest_of(row));
        for (const PlanCard& card : row.cards)
            out.stream() << fmt::format("  {:>10}", card.fits ? "fits" : "too small");
        out.stream() << '\n';
    }
    for (const PlanPolicy& row : device.policies) {
        if (row.fails_above)
            out.wrapped("", fmt::format("  {}: ", terminal_safe(row.name)),
                        fmt::format("more is not always enough: it fails on {}",
                                    human_bytes(*row.fails_above)));
    }
}

void write_plan_shortages(TextOutput& out, const PlanDevice& device)
{
    for (const PlanCard& card : device.policies.front().cards) {
        if (!card.shortage)
            continue;
        const PlanShortage& shortage = *card.shortage;
        out.wrapped("", fmt::format("  On {}: ", human_bytes(card.bytes)),
                    fmt::format("out of memory at {} for {}: {}; {}", human_time(shortage.at_ns),
                                human_bytes(shortage.requested),
                                why_short(shortage, card.bytes, device.base),
                                innermost_in(shortage, out.room_behind(30))));
    }
}

} // namespace vramscope::report
