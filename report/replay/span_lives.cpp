// report/replay/span_lives.cpp — see span_lives.hpp.
#include "report/replay/span_lives.hpp"

#include <algorithm>
#include <tuple>

namespace vramscope::report {
namespace {

bool is_before(const SpanLife& life, std::uint32_t born)
{
    return life.born < born;
}

bool same_spans(const SpanLife& a, const SpanLife& b)
{
    return a.born == b.born && a.left == b.left;
}

std::uint32_t position_of(const std::vector<std::uint32_t>& numbers, std::uint32_t number)
{
    return static_cast<std::uint32_t>(std::lower_bound(numbers.begin(), numbers.end(), number) -
                                      numbers.begin());
}

// In order of the spans in which they left. `span_of`: a span for each number.
template <typename SpanOf>
std::vector<SpanLife> joined_lives(const std::vector<SpanLife>& lives, SpanOf span_of)
{
    std::vector<SpanLife> sorted;
    sorted.reserve(lives.size());
    for (const SpanLife& life : lives) {
        SpanLife& moved = sorted.emplace_back(life);
        moved.born = span_of(life.born);
        moved.left = life.left == SpanLife::kAlive ? life.left : span_of(life.left);
    }
    std::sort(sorted.begin(), sorted.end(), [](const SpanLife& a, const SpanLife& b) {
        return std::tie(a.left, a.born) < std::tie(b.left, b.born);
    });
    std::vector<SpanLife> joined;
    for (const SpanLife& life : sorted) {
        if (!joined.empty() && same_spans(joined.back(), life))
            joined.back().join(life);
        else
            joined.push_back(life);
    }
    return joined;
}

} // namespace

SpanLife& SpanLives::alive_of(std::vector<SpanLife>& alive, Span span)
{
    auto at = std::lower_bound(alive.begin(), alive.end(), span.before + 1, is_before);
    if (at == alive.end() || at->born > span.number) {
        ++sums_;
        return *alive.insert(at, SpanLife{.born = span.number});
    }
    const auto end = std::lower_bound(at, alive.end(), span.number + 1, is_before);
    for (auto same = at + 1; same != end; ++same)
        at->join(*same);
    at->born = span.number;
    sums_ -= static_cast<std::size_t>(end - at) - 1;
    alive.erase(at + 1, end);
    return *at;
}

void SpanLives::born(SiteId site, Span span, std::uint64_t bytes)
{
    alive_of(sites_.of(site).alive, span).join({.blocks = 1, .bytes = bytes});
}

void SpanLives::begin_with(SiteId site, std::uint64_t blocks, std::uint64_t bytes)
{
    alive_of(sites_.of(site).alive, {0, 1}).join({.blocks = blocks, .bytes = bytes});
}

void SpanLives::left(SiteId site, Span born, std::uint32_t now, std::uint64_t bytes)
{
    Lives& lives = sites_.of(site);
    SpanLife& alive = alive_of(lives.alive, born);
    alive.bytes -= std::min(alive.bytes, bytes); // its size may have been unknown at its birth
    alive.blocks -= std::min<std::uint64_t>(alive.blocks, 1);
    if (alive.blocks == 0) {
        lives.alive.erase(lives.alive.begin() + (&alive - lives.alive.data()));
        --sums_;
    }
    for (auto one = lives.gone.rbegin(); one != lives.gone.rend() && one->left == now; ++one) {
        if (one->born == born.number)
            return one->join({.blocks = 1, .bytes = bytes});
    }
    lives.gone.push_back({born.number, now, 1, bytes});
    ++sums_;
    if (lives.gone.size() < lives.many)
        return;
    lives.many = 2 * lives.gone.size();
    grown_.push_back(site);
}

void SpanLives::all_left(SiteId site, std::uint32_t now)
{
    Lives& lives = sites_.of(site);
    for (SpanLife life : lives.alive) {
        life.left = now;
        lives.gone.push_back(life);
    }
    lives.alive.clear();
}

void SpanLives::join(SiteId site, const std::vector<std::uint32_t>& numbers)
{
    if (site >= sites_.size())
        return;
    Lives& lives = sites_[site];
    sums_ -= lives.alive.size() + lives.gone.size();
    const auto left_number = [&](std::uint32_t number) {
        return numbers[position_of(numbers, number)];
    };
    lives.alive = joined_lives(lives.alive, left_number);
    lives.gone = joined_lives(lives.gone, left_number);
    lives.many = std::max(kMany, 2 * lives.gone.size());
    sums_ += lives.alive.size() + lives.gone.size();
}

std::vector<SpanLife> SpanLives::of(SiteId site, const std::vector<std::uint32_t>& numbers) const
{
    if (site >= sites_.size())
        return {};
    std::vector<SpanLife> all = sites_[site].gone;
    all.insert(all.end(), sites_[site].alive.begin(), sites_[site].alive.end());
    return joined_lives(all, [&](std::uint32_t number) { return position_of(numbers, number); });
}

} // namespace vramscope::report
