// report/plan/replay/compare.hpp — a trace under several policies, on all cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "report/plan/replay/replay.hpp"
#include "report/plan/replay/smallest_card.hpp"

namespace vramscope::report::plan {

struct Compared {
    Outcome unlimited;
    bool searched = false; // for the smallest card
    std::optional<SmallestCard> smallest;
    std::vector<Outcome> on_cards; // in their order
};

// The smallest card takes some twenty replays. For traces of more requests than this it is looked
// for with the first policy, and with the few that reserve least.
inline constexpr std::size_t kSearchAllBelow = 1'000'000;

// In the order of the policies. `cards`: bytes of whole devices.
std::vector<Compared> compare(const Trace& trace, const std::vector<PolicyRow>& policies,
                              const std::vector<std::uint64_t>& cards);

// Calls work(0) to work(count - 1), each once, from several threads; throws what one threw.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& work);

} // namespace vramscope::report::plan
