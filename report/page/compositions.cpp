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

// Which moments become one: so many neighbours; but what was there when the log was collected.
struct Joining {
    std::size_t together;
    std::size_t apart; // so many at first

    std::size_t of(std::size_t moment) const noexcept
    {
        return moment < apart ? moment : apart + (moment - apart) / together;
    }
};

// Of those together the highest moment is kept.
std::vector<Composition> fewer(const std::vector<Composition>& moments, const Joining& joining)
{
    std::vector<Composition> kept;
    for (std::size_t at = 0; at < moments.size(); ++at) {
        if (joining.of(at) == kept.size()) {
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

// By the moments that are left. What is alive at the end leaves behind the last of them.
Json lives_json(const std::vector<SpanLife>& lives, const Joining& joining, std::size_t moments)
{
    std::map<std::pair<std::size_t, std::size_t>, SpanLife> sums; // left, born
    for (const SpanLife& life : lives) {
        const bool alive = life.left == SpanLife::kAlive;
        sums[{alive ? moments : joining.of(life.left), joining.of(life.born)}].join(life);
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
    const Joining joining{
        std::max<std::size_t>((compositions.moments.size() + most_moments - 1) / most_moments, 1),
        compositions.since_ns ? 1u : 0u};
    const std::vector<Composition> moments = fewer(compositions.moments, joining);
    const std::size_t share = parts / std::max<std::size_t>(moments.size(), 1);
    const std::size_t stacks =
        std::min(compositions.stacks.size(), std::max<std::size_t>(share, 1));
    Json places = Json::array();
    for (std::size_t at = 0; at < stacks; ++at) {
        const ComposingStack& place = compositions.stacks[at];
        Json& row = places.emplace_back(Json{{"memory", name(place.memory)}, {"api", place.api}});
        lives -= std::min(lives, place.lives.size() + 1);
        row["lives"] = lives > 0 ? lives_json(place.lives, joining, moments.size()) : Json();
        add_members(row, place, kStack, Audience::page);
    }
    Json rows = Json::array();
    for (const Composition& moment : moments)
        rows.push_back(moment_row(moment, stacks));
    return {{"stacks", std::move(places)},
            {"moments", std::move(rows)},
            {"lives", lives_json(compositions.lives, joining, moments.size())},
            {"since_ns", compositions.since_ns ? Json(*compositions.since_ns) : Json(nullptr)},
            {"left_out", compositions.stacks.size() - stacks}};
}

} // namespace vramscope::report
