// report/model/plan/plan.cpp — what is asked of the rows of a plan.
#include "report/model/plan/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "report/error.hpp"

namespace vramscope::report {
namespace {

// Less than this part of the card is no help.
constexpr double kLeastHelp = 0.02;

std::uint64_t missing_on(const std::vector<std::uint64_t>& cards, std::uint64_t needed)
{
    const auto smallest = std::min_element(cards.begin(), cards.end());
    return smallest == cards.end() || needed <= *smallest ? 0 : needed - *smallest;
}

struct Need {
    std::uint64_t card = 0;
    const PlanProcess* process = nullptr;
    const PlanDevice* device = nullptr; // that needs it
};

// The card that each device of each process fits on; nothing: of one it is not known. `row_of`
// tells its policy, or nullptr.
template <typename RowOf>
std::optional<Need> need_of_all(const std::vector<PlanProcess>& processes, RowOf row_of)
{
    Need most;
    for (const PlanProcess& process : processes)
        for (const PlanDevice& device : process.devices) {
            const PlanPolicy* const row = row_of(device);
            if (!row || !row->smallest_card)
                return std::nullopt;
            if (!most.device || *row->smallest_card > most.card)
                most = {*row->smallest_card, &process, &device};
        }
    return most;
}

const PlanPolicy* policy_of_name(const PlanDevice& device, const std::string& name)
{
    const auto row = std::find_if(device.policies.begin(), device.policies.end(),
                                  [&](const PlanPolicy& one) { return one.name == name; });
    return row == device.policies.end() ? nullptr : &*row;
}

bool is_bound(const PlanPolicy& row)
{
    return std::find(kBoundPolicies.begin(), kBoundPolicies.end(), row.name) !=
           kBoundPolicies.end();
}

} // namespace

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
    answer.lower_process = answer.process;
    answer.lower = answer.device;
    if (!answer.device)
        return answer;
    Need least;
    for (const PlanPolicy& row : answer.device->policies) { // those that a program could run with
        const auto one = need_of_all(
            processes, [&](const PlanDevice& device) { return policy_of_name(device, row.name); });
        if (one && !is_bound(row) && (!answer.best || one->card < least.card)) {
            answer.best = &row;
            least = *one;
        }
    }
    if (!answer.best)
        return answer;
    const PlanPolicy& judged = answer.judged();
    const auto needed =
        need_of_all(processes, [](const PlanDevice& device) { return &device.policies.front(); });
    const std::uint64_t now = needed ? needed->card : 0;
    answer.best_card = least.card;
    answer.saved = now > answer.best_card ? now - answer.best_card : 0;
    answer.helps = answer.best != &judged &&
                   (!judged.smallest_card ||
                    static_cast<double>(answer.saved) >= kLeastHelp * static_cast<double>(now));
    answer.missing = missing_on(cards, answer.best_card);
    if (answer.missing > 0) {
        answer.lower_process = least.process;
        answer.lower = least.device;
    }
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
