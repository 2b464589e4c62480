// report/plan/replay/smallest_card.cpp — the smallest device that serves a whole trace.
#include "report/plan/replay/smallest_card.hpp"

#include <algorithm>

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kStep = 2u << 20;

class Search {
public:
    Search(const Trace& trace, const PolicyRow& policy) : trace_(trace), policy_(policy) {}

    bool fits(std::uint64_t steps)
    {
        ++replays;
        last = replay(trace_, policy_, {.capacity = steps * kStep, .stop_at_shortage = true});
        return !last.out_of_memory;
    }

    Outcome last;
    std::uint64_t replays = 0;

private:
    const Trace& trace_;
    const PolicyRow& policy_;
};

std::uint64_t steps_for(std::uint64_t bytes)
{
    return (bytes + kStep - 1) / kStep;
}

// The peak of all that is taken past the allocator, and of what the blocks need at least.
std::uint64_t least_steps(const Trace& trace)
{
    const Outcome ideal = replay(trace, policy_of("ideal"));
    return steps_for(trace.base_bytes + ideal.peak.requested);
}

std::uint64_t most_beside(const Trace& trace)
{
    std::uint64_t beside = 0, most = 0;
    for (const Request& request : trace.requests) {
        if (request.action == Action::take_beside)
            most = std::max(most, beside += request.bytes);
        else if (request.action == Action::give_beside)
            beside -= std::min(beside, request.bytes);
    }
    return most;
}

} // namespace

std::optional<SmallestCard> smallest_card(const Trace& trace, const PolicyRow& policy,
                                          const Outcome& unlimited)
{
    constexpr int kLooksAbove = 10;
    Search search(trace, policy);
    std::uint64_t fails = least_steps(trace); // at most: it may be enough
    fails -= fails > 0 ? 1 : 0;
    std::uint64_t enough = std::max(
        steps_for(trace.base_bytes + unlimited.peak.reserved + most_beside(trace)), fails + 1);
    // A policy that is told the device's size may need more than it takes without a limit.
    for (int doublings = 0; !search.fits(enough); ++doublings) {
        if (doublings == kLooksAbove)
            return std::nullopt;
        fails = enough;
        enough += enough / 2 + 1;
    }
    const std::uint64_t most = enough;
    SmallestCard card;
    card.outcome = search.last;
    while (enough - fails > 1) {
        const std::uint64_t middle = fails + (enough - fails) / 2;
        if (search.fits(middle)) {
            enough = middle;
            card.outcome = search.last;
        } else {
            fails = middle;
        }
    }
    for (int look = 1; look <= kLooksAbove && !card.fails_above; ++look) {
        const std::uint64_t above =
            most - (most - enough) * static_cast<std::uint64_t>(look) / (kLooksAbove + 1);
        if (above < most && above > enough && !search.fits(above))
            card.fails_above = above * kStep;
    }
    card.bytes = enough * kStep;
    card.replays = search.replays;
    return card;
}

} // namespace vramscope::report::plan
