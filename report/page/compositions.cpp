// report/page/compositions.cpp — see compositions.hpp.
#include "report/page/compositions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace vramscope::report {
namespace {

constexpr std::size_t kFewestStacks = 16; // rather than these, moments are left out

void add_to(std::vector<std::uint64_t>& counts, const std::vector<std::uint64_t>& more)
{
    for (std::size_t at = 0; at < std::min(counts.size(), more.size()); ++at)
        counts[at] += more[at];
}

// Of so many neighbours together the highest moment is kept.
std::vector<Composition> fewer(const std::vector<Composition>& moments, std::size_t together)
{
    std::vector<Composition> kept;
    for (std::size_t at = 0; at < moments.size(); ++at) {
        if (at % together == 0) {
            kept.push_back(moments[at]);
            continue;
        }
        Composition next = moments[at];
        Composition& one = kept.back();
        add_to(next.sizes, one.sizes);
        add_to(next.lifetimes, one.lifetimes);
        next.from_ns = one.from_ns;
        if (next.bytes > one.bytes) {
            one = std::move(next);
        } else {
            one.sizes = std::move(next.sizes);
            one.lifetimes = std::move(next.lifetimes);
        }
    }
    return kept;
}

// By the moments that are left, of which one stands for so many. What is alive at the end leaves
// behind the last of them.
Json lives_json(const std::vector<SpanLife>& lives, std::size_t together, std::size_t moments)
{
    std::map<std::pair<std::size_t, std::size_t>, SpanLife> sums; // left, born
    for (const SpanLife& life : lives) {
        const bool alive = life.left == SpanLife::kAlive;
        sums[{alive ? moments : life.left / together, life.born / together}].join(life);
    }
    Json json = {{"born", Json::array()},
                 {"left", Json::array()},
                 {"blocks", Json::array()},
                 {"bytes", Json::array()}};
    for (const auto& [spans, sum] : sums) {
        json["born"].push_back(spans.second);
        json["left"].push_back(spans.first);
        json["blocks"].push_back(sum.blocks);
        json["bytes"].push_back(sum.bytes);
    }
    return json;
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
    Json sizes = Json::array(); // their numbers of bits
    Json size_blocks = Json::array();
    for (std::size_t bits = 0; bits < moment.sizes.size(); ++bits) {
        if (moment.sizes[bits] == 0)
            continue;
        sizes.push_back(bits);
        size_blocks.push_back(moment.sizes[bits]);
    }
    return {{"from_ns", moment.from_ns},    {"ns", moment.ns},   {"bytes", moment.bytes},
            {"blocks", moment.blocks},      {"stacks", numbers}, {"stack_bytes", bytes},
            {"stack_blocks", blocks},       {"sizes", sizes},    {"size_blocks", size_blocks},
            {"lifetimes", moment.lifetimes}};
}

} // namespace

Json compositions_json(const Compositions& compositions, std::size_t parts, std::size_t lives)
{
    const std::size_t most_moments = std::max<std::size_t>(parts / kFewestStacks, 1);
    const std::size_t together =
        std::max<std::size_t>((compositions.moments.size() + most_moments - 1) / most_moments, 1);
    const std::vector<Composition> moments = fewer(compositions.moments, together);
    const std::size_t share = parts / std::max<std::size_t>(moments.size(), 1);
    const std::size_t stacks =
        std::min(compositions.stacks.size(), std::max<std::size_t>(share, 1));
    Json places = Json::array();
    for (std::size_t at = 0; at < stacks; ++at) {
        const ComposingStack& place = compositions.stacks[at];
        Json& row = places.emplace_back(Json{{"memory", name(place.memory)}, {"api", place.api}});
        lives -= std::min(lives, place.lives.size() + 1);
        row["lives"] = lives > 0 ? lives_json(place.lives, together, moments.size()) : Json();
        add_members(row, place, kStack, Audience::page);
    }
    Json rows = Json::array();
    for (const Composition& moment : moments)
        rows.push_back(moment_row(moment, stacks));
    return {{"stacks", std::move(places)},
            {"moments", std::move(rows)},
            {"lives", lives_json(compositions.lives, together, moments.size())},
            {"left_out", compositions.stacks.size() - stacks}};
}

} // namespace vramscope::report
