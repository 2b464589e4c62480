// report/page/compositions.cpp — see compositions.hpp.
#include "report/page/compositions.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

constexpr std::size_t kFewestStacks = 16; // rather than these, moments are left out

// Of so many neighbours together the highest moment is kept.
std::vector<Composition> fewer(const std::vector<Composition>& moments, std::size_t most)
{
    const std::size_t together = (moments.size() + most - 1) / std::max<std::size_t>(most, 1);
    std::vector<Composition> kept;
    for (std::size_t at = 0; at < moments.size(); ++at) {
        if (at % std::max<std::size_t>(together, 1) == 0) {
            kept.push_back(moments[at]);
        } else if (moments[at].bytes > kept.back().bytes) {
            const std::uint64_t from_ns = kept.back().from_ns;
            kept.back() = moments[at];
            kept.back().from_ns = from_ns;
        }
    }
    return kept;
}

Json moment_row(const Composition& moment, std::size_t stacks)
{
    Json numbers = Json::array();
    Json bytes = Json::array();
    Json blocks = Json::array();
    for (const Composition::Part& part : moment.parts) {
        if (part.stack >= stacks)
            continue;
        numbers.push_back(part.stack);
        bytes.push_back(part.bytes);
        blocks.push_back(part.blocks);
    }
    return {{"from_ns", moment.from_ns}, {"ns", moment.ns},   {"bytes", moment.bytes},
            {"blocks", moment.blocks},   {"stacks", numbers}, {"stack_bytes", bytes},
            {"stack_blocks", blocks}};
}

} // namespace

Json compositions_json(const Compositions& compositions, std::size_t parts)
{
    const std::size_t most_moments = std::max<std::size_t>(parts / kFewestStacks, 1);
    const std::vector<Composition> moments = fewer(compositions.moments, most_moments);
    const std::size_t share = parts / std::max<std::size_t>(moments.size(), 1);
    const std::size_t stacks =
        std::min(compositions.stacks.size(), std::max<std::size_t>(share, 1));
    Json places = Json::array();
    for (std::size_t at = 0; at < stacks; ++at) {
        const ComposingStack& place = compositions.stacks[at];
        Json& row = places.emplace_back(Json{{"memory", name(place.memory)}, {"api", place.api}});
        add_members(row, place, kStack, Audience::page);
    }
    Json rows = Json::array();
    for (const Composition& moment : moments)
        rows.push_back(moment_row(moment, stacks));
    return {{"stacks", std::move(places)},
            {"moments", std::move(rows)},
            {"left_out", compositions.stacks.size() - stacks}};
}

} // namespace vramscope::report
