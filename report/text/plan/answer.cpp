// report/text/plan/answer.cpp — first whether it fits, and then what would help.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/text/view.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/shares.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Less than this part of the card is no help.
constexpr double kLeastHelp = 0.02;

struct Neediest {
    const PlanProcess* process = nullptr;
    const PlanDevice* device = nullptr;
};

// The device that needs most, or for which nothing is enough.
Neediest neediest_of(const Plan& plan)
{
    Neediest found;
    const auto need = [](const PlanDevice& device) {
        return device.policies.front().smallest_card.value_or(UINT64_MAX);
    };
    for (const PlanProcess& process : plan.processes) {
        for (const PlanDevice& device : process.devices) {
            if (!found.device || need(device) > need(*found.device))
                found = {&process, &device};
        }
    }
    return found;
}

std::string need_of(const PlanPolicy& policy)
{
    return policy.smallest_card ? fmt::format("the smallest card that fits has {}",
                                              human_bytes(*policy.smallest_card))
                                : "no card is large enough for it";
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

// The bytes that are missing on the smallest of the cards; 0: none are, or none was asked for.
std::uint64_t missing_on(const Plan& plan, const PlanPolicy& policy)
{
    const auto smallest = std::min_element(plan.cards.begin(), plan.cards.end());
    if (smallest == plan.cards.end() || !policy.smallest_card || *policy.smallest_card <= *smallest)
        return 0;
    return *policy.smallest_card - *smallest;
}

std::string what_to_lower(const TextOutput& out, const Plan& plan, const PlanDevice& device,
                          const PlanPolicy& best)
{
    std::string text =
        fmt::format("at the peak {} are live", human_bytes(device.live_peak + device.beside_peak));
    if (device.holders.empty())
        return text;
    const PlanHolder& most = device.holders.front();
    const std::string place = innermost_in(most, out.room_behind(30));
    const std::uint64_t missing = missing_on(plan, best);
    if (missing > most.bytes)
        text += fmt::format(", {} too many", human_bytes(missing));
    else if (missing > 0)
        return text + fmt::format("; lower {} by {} (it has {})", place, human_bytes(missing),
                                  human_bytes(most.bytes));
    return text + fmt::format("; {} of them are of {}", human_bytes(most.bytes), place);
}

void write_knob(TextOutput& out, const Plan& plan, const PlanDevice& device)
{
    const PlanPolicy& judged = device.policies.front();
    const PlanPolicy* const best = device.best();
    if (!best)
        return;
    const std::uint64_t now = judged.smallest_card.value_or(0);
    const std::uint64_t saved = now > *best->smallest_card ? now - *best->smallest_card : 0;
    const bool helps =
        best != &judged && (!judged.smallest_card ||
                            static_cast<double>(saved) >= kLeastHelp * static_cast<double>(now));
    if (helps)
        out.wrapped("", "Best knob: ",
                    fmt::format("{} needs {}{}", best->name, human_bytes(*best->smallest_card),
                                saved > 0 ? ", " + human_bytes(saved) + " less" : ""));
    if (!helps)
        out.wrapped("", "No knob helps: ", what_to_lower(out, plan, device, *best));
    else if (missing_on(plan, *best) > 0)
        out.wrapped("", "It is not enough: ", what_to_lower(out, plan, device, *best));
}

} // namespace

std::string policy_words(const PlanPolicy& policy)
{
    return policy.name + (policy.recorded ? ", as recorded" : "");
}

void write_plan_answer(TextOutput& out, const Plan& plan)
{
    const auto [process, device] = neediest_of(plan);
    if (!device) {
        out.stream() << out.painted("NOTHING", kYellow) << ": no log asked for device memory\n";
        return;
    }
    const PlanPolicy& judged = device->policies.front();
    std::string where;
    if (plan.processes.size() > 1)
        where = fmt::format(", process {}", process->pid);
    if (process->devices.size() > 1)
        where += ", " + device_name(device->device);
    out.wrapped("", "",
                fmt::format("{}: {} ({}{})", verdict_words(out, plan, judged), need_of(judged),
                            terminal_safe(policy_words(judged)), where));
    write_knob(out, plan, *device);
    if (device->base > 0)
        out.wrapped("", "Of each card ",
                    fmt::format("{} are taken before: contexts, code and other processes, by the "
                                "driver's word.",
                                human_bytes(device->base)));
    out.wrapped("", "", "A card shows programs less than its name says, often some hundred MiB.");
}

} // namespace vramscope::report
