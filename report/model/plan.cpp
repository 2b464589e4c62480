// report/model/plan.cpp — what is asked of the rows of a plan.
#include "report/model/plan.hpp"

#include <algorithm>

#include "report/error.hpp"

namespace vramscope::report {

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

} // namespace vramscope::report
