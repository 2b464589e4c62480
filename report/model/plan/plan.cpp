// report/model/plan/plan.cpp — what is asked of the rows of a plan.
#include "report/model/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "report/error.hpp"

namespace vramscope::report {
namespace {

// Less than this part of the card is no help.
constexpr double kLeastHelp = 0.02;

std::uint64_t missing_on(const std::vector<std::uint64_t>& cards, const PlanPolicy& policy)
{
    const auto smallest = std::min_element(cards.begin(), cards.end());
    if (smallest == cards.end() || !policy.smallest_card || *policy.smallest_card <= *smallest)
        return 0;
    return *policy.smallest_card - *smallest;
}

} // namespace

// Of those that a program could run with.
const PlanPolicy* PlanDevice::best() const noexcept
{
    const PlanPolicy* best = nullptr;
    for (const PlanPolicy& row : policies) {
        const bool is_bound = std::find(kBoundPolicies.begin(), kBoundPolicies.end(), row.name) !=
                              kBoundPolicies.end();
        if (row.smallest_card && !is_bound && (!best || *row.smallest_card < *best->smallest_card))
            best = &row;
    }
    return best;
}

int Plan::exit_status() const noexcept
{
    const bool judged = !cards.empty();
    switch (verdict) {
    case PlanVerdict::does_not_fit:
        return static_cast<int>(Exit::findings);
    case PlanVerdict::unknown:
        return judged ? static_cast<int>(Exit::incomplete) : 0;
    case PlanVerdict::nothing:
        return static_cast<int>(Exit::nothing_observed);
    case PlanVerdict::fits:
        break;
    }
    return 0;
}

PlanAnswer Plan::answer() const noexcept
{
    PlanAnswer answer;
    // What does not fit a card that was given comes before what needs more.
    const auto need = [](const PlanDevice& device) {
        const PlanPolicy& judged = device.policies.front();
        const bool fits = std::all_of(judged.cards.begin(), judged.cards.end(),
                                      [](const PlanCard& card) { return card.fits; });
        return std::pair(!fits, judged.smallest_card.value_or(UINT64_MAX));
    };
    for (const PlanProcess& process : processes) {
        for (const PlanDevice& device : process.devices) {
            if (!answer.device || need(device) > need(*answer.device)) {
                answer.process = &process;
                answer.device = &device;
            }
        }
    }
    answer.best = answer.device ? answer.device->best() : nullptr;
    if (!answer.best)
        return answer;
    const PlanPolicy& judged = answer.judged();
    const std::uint64_t now = judged.smallest_card.value_or(0);
    const std::uint64_t then = *answer.best->smallest_card;
    answer.saved = now > then ? now - then : 0;
    answer.helps = answer.best != &judged &&
                   (!judged.smallest_card ||
                    static_cast<double>(answer.saved) >= kLeastHelp * static_cast<double>(now));
    answer.missing = missing_on(cards, *answer.best);
    return answer;
}

std::map<std::string, std::string> Plan::guesses() const
{
    std::map<std::string, std::string> guesses;
    if (processes.empty() || processes.front().devices.empty())
        return guesses;
    for (const PlanPolicy& row : processes.front().devices.front().policies) {
        std::string& names = guesses[row.unsure];
        names += (names.empty() ? "" : ", ") + row.name;
    }
    guesses.erase("");
    return guesses;
}

} // namespace vramscope::report
