// report/text/plan/answer.cpp — first whether it fits, and then what would help.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/plan/sections.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string need_of(const Plan& plan, const PlanPolicy& policy)
{
    if (!policy.smallest_card)
        return "no card is large enough for it";
    // What a pool keeps for later may be more on a card that is a little larger.
    const bool more_does_not =
        std::any_of(policy.cards.begin(), policy.cards.end(), [&](const PlanCard& card) {
            return card.bytes >= *policy.smallest_card && !card.fits;
        });
    return fmt::format("the smallest card that fits has {}{}",
                       smallest_card_words(policy, plan.cards),
                       more_does_not ? ", though not each larger one does" : "");
}

std::string cards_of(const Plan& plan, const PlanPolicy& judged, bool fitting)
{
    std::string cards;
    for (std::size_t at = 0; at < plan.cards.size(); ++at) {
        if (judged.cards[at].fits == fitting)
            cards += (cards.empty() ? "" : ", ") + human_bytes(plan.cards[at]);
    }
    return cards;
}

std::string verdict_words(const TextOutput& out, const Plan& plan, const PlanPolicy& judged)
{
    switch (plan.verdict) {
    case PlanVerdict::does_not_fit:
        return fmt::format("{} on {}", out.painted("DOES NOT FIT", kRed),
                           cards_of(plan, judged, false));
    case PlanVerdict::fits:
        if (!plan.cards.empty())
            return fmt::format("{} on {}", out.painted("FITS", kGreen),
                               cards_of(plan, judged, true));
        break;
    case PlanVerdict::unknown:
        if (!plan.cards.empty())
            return fmt::format("{} on {}", out.painted("FITS, AS FAR AS THE LOG SHOWS,", kYellow),
                               cards_of(plan, judged, true));
        break;
    case PlanVerdict::nothing:
        break;
    }
    return out.painted("NEEDS", "1");
}

std::string what_to_lower(const TextOutput& out, const PlanAnswer& answer)
{
    const PlanDevice& device = *answer.lower;
    std::string text = "at the peak";
    if (&device != answer.device)
        text += " of " + device_name(device.device);
    if (answer.lower_process != answer.process)
        text += fmt::format(", process {},", answer.lower_process->pid);
    text += fmt::format(" {} are live", human_bytes(device.live_peak));
    if (device.beside_peak > 0)
        text += fmt::format(", and up to {} past the allocator", human_bytes(device.beside_peak));
    if (device.holders.empty())
        return text;
    const PlanHolder& most = device.holders.front();
    const std::string place = innermost_in(most, out.room_behind(30));
    const std::uint64_t missing = answer.missing;
    if (missing > most.bytes)
        text += fmt::format(", {} too many", human_bytes(missing));
    else if (missing > 0)
        return text + fmt::format("; lower {} by {} (it has {})", place, human_bytes(missing),
                                  human_bytes(most.bytes));
    return text + fmt::format("; {} of them are of {}", human_bytes(most.bytes), place);
}

void write_knob(TextOutput& out, const PlanAnswer& answer)
{
    if (!answer.best)
        return;
    if (!answer.helps) {
        out.wrapped("", "No knob helps: ", what_to_lower(out, answer));
        return;
    }
    out.wrapped("", "Best knob: ",
                fmt::format("{} needs {}{}", answer.best->name, card_words(answer.best_card),
                            answer.saved > 0 ? ", " + human_bytes(answer.saved) + " less" : ""));
    if (answer.missing > 0)
        out.wrapped("", "It is not enough: ", what_to_lower(out, answer));
}

} // namespace

void write_plan_answer(TextOutput& out, const Plan& plan)
{
    const PlanAnswer answer = plan.answer();
    const PlanProcess* const process = answer.process;
    const PlanDevice* const device = answer.device;
    if (!device) {
        out.stream() << out.painted("NOTHING", kYellow) << ": no log asked for device memory\n";
        return;
    }
    const PlanPolicy& judged = answer.judged();
    std::string where;
    if (plan.processes.size() > 1)
        where = fmt::format(", process {}", process->pid);
    if (process->devices.size() > 1)
        where += ", " + device_name(device->device);
    out.wrapped("", "",
                fmt::format("{}: {} ({}{})", verdict_words(out, plan, judged),
                            need_of(plan, judged), terminal_safe(policy_words(judged)), where));
    write_knob(out, answer);
    if (device->base > 0)
        out.wrapped("", "Of each card ",
                    fmt::format("{} are taken before: contexts, code and other processes, by the "
                                "driver's word.",
                                human_bytes(device->base)));
    out.wrapped("", "", "A card shows programs less than its name says, often some hundred MiB.");
}

} // namespace vramscope::report
