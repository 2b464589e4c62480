// report/text/plan/policies.cpp — a row for each policy, and where it runs out of memory.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kNameColumns = 34;

std::string smallest_of(const PlanPolicy& policy)
{
    if (!policy.searched)
        return "-";
    return policy.smallest_card ? card_words(*policy.smallest_card) : "none";
}

} // namespace

// A name that is long has a line of its own.
void write_plan_policies(TextOutput& out, const Plan& plan, const PlanDevice& device)
{
    out.stream() << fmt::format("  {:<{}}  {:>10} {:>7} {:>9} {:>13}", "policy", kNameColumns,
                                "reserved", "unused", "calls", "smallest card");
    for (const std::uint64_t card : plan.cards)
        out.stream() << fmt::format("  {:>10}", "on " + human_bytes(card));
    out.stream() << '\n';
    for (const PlanPolicy& row : device.policies) {
        std::string name = terminal_safe(policy_words(row));
        if (columns(name) > kNameColumns) {
            out.stream() << "  " << name << '\n';
            name.clear();
        }
        out.stream() << fmt::format("  {:<{}}  {:>10} {:>7} {:>9} {:>13}", name, kNameColumns,
                                    human_bytes(row.peak_reserved), percent(row.fragmentation()),
                                    grouped(row.device_calls), smallest_of(row));
        for (const PlanCard& card : row.cards)
            out.stream() << fmt::format("  {:>10}", card.fits ? "fits" : "too small");
        out.stream() << '\n';
    }
    if (std::any_of(device.policies.begin(), device.policies.end(),
                    [](const PlanPolicy& row) { return !row.searched; }))
        out.wrapped("", "  -: ",
                    "not looked for, as there are so many requests: it is of the first policy, and "
                    "of the two that reserve least");
    for (const PlanPolicy& row : device.policies) {
        if (row.fails_above)
            out.wrapped("", fmt::format("  {}: ", terminal_safe(row.name)),
                        fmt::format("more is not always enough: it fails on {}",
                                    human_bytes(*row.fails_above)));
    }
}

namespace {

void write_card(TextOutput& out, const PlanCard& card, std::uint64_t base)
{
    if (!card.shortage)
        return;
    const PlanShortage& shortage = *card.shortage;
    out.wrapped("", fmt::format("  On {}: ", human_bytes(card.bytes)),
                fmt::format("out of memory at {} for {}: {}; {}", human_time(shortage.at_ns),
                            human_bytes(shortage.requested), why_short(shortage, card.bytes, base),
                            innermost_in(shortage, out.room_behind(30))));
    for (const PlanPin& row : shortage.would_make_room)
        out.line(fmt::format("      room, if {} of {} had been freed: ",
                             counted(row.blocks, "block"), human_bytes(row.bytes)),
                 row);
}

} // namespace

void write_plan_shortages(TextOutput& out, const PlanDevice& device)
{
    for (const PlanCard& card : device.policies.front().cards)
        write_card(out, card, device.base);
    if (device.recorded_failure)
        write_card(out, *device.recorded_failure, device.base);
}

} // namespace vramscope::report
