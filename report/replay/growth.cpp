// report/replay/growth.cpp — floors, and which of them are joined when there are too many.
#include "report/replay/growth.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace vramscope::report {
namespace {

// A floor is kept when it spans this part of the site's events, or of its life: more than a 47th of
// what was before it.
constexpr std::uint64_t kParts = 48;
// So many pairs of floors are joined at once, as they are far off in memory.
constexpr std::size_t kJoins = 8;
constexpr double kNoShare = std::numeric_limits<double>::infinity(); // no floor is behind it

// Which floors are still there, while some are joined.
struct Chain {
    // kMostFloors: none is behind it. The first has none before it.
    std::array<std::uint8_t, kMostFloors> next{};
    std::array<std::uint8_t, kMostFloors + 1> before{};

    constexpr Chain() noexcept
    {
        for (std::uint8_t at = 0; at < kMostFloors; ++at) {
            next[at] = static_cast<std::uint8_t>(at + 1);
            before[at + 1u] = at;
        }
    }
    void remove(std::size_t at) noexcept // not the first
    {
        next[before[at]] = next[at];
        before[next[at]] = before[at];
    }
};

// A number for each floor; the least is found by the least ones of groups.
class Shares {
public:
    explicit Shares(const std::array<double, kMostFloors>& shares) noexcept : shares_(shares)
    {
        for (std::size_t group = 0; group < least_.size(); ++group)
            least_[group] = least_in(&shares_[group * kGroup]);
    }
    void set(std::size_t at, double share) noexcept
    {
        shares_[at] = share;
        least_[at / kGroup] = least_in(&shares_[at / kGroup * kGroup]);
    }
    std::size_t least() const noexcept // the first of equal ones
    {
        const double least = least_in(least_.data());
        const std::size_t group = place_in(least_.data(), least) * kGroup;
        return group + place_in(&shares_[group], least);
    }

private:
    static constexpr std::size_t kGroup = 8;
    static_assert(kGroup * kGroup == kMostFloors);

    // By halves: three steps that wait for each other instead of seven.
    static double least_in(const double* group) noexcept
    {
        const double low = std::min(std::min(group[0], group[1]), std::min(group[2], group[3]));
        const double high = std::min(std::min(group[4], group[5]), std::min(group[6], group[7]));
        return std::min(low, high);
    }
    // Of the first that is equal to it. All are looked at: where to end cannot be predicted.
    static std::size_t place_in(const double* group, double share) noexcept
    {
        const auto wanted = std::bit_cast<std::uint64_t>(share); // none is negative, or no number
        unsigned found = 0;
#pragma GCC unroll 8
        for (unsigned at = 0; at < kGroup; ++at)
            found |= unsigned{std::bit_cast<std::uint64_t>(group[at]) == wanted} << at;
        return static_cast<std::size_t>(std::countr_zero(found));
    }

    std::array<double, kMostFloors> shares_;
    std::array<double, kGroup> least_;
};

std::uint32_t narrow(std::uint64_t number) noexcept
{
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(number, UINT32_MAX));
}

std::uint32_t few(std::uint64_t events) noexcept
{
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(events, INT32_MAX));
}

Floor joined(const Floor& first, const Floor& second) noexcept
{
    return {.ticks = second.ticks,
            .bytes = std::min(first.bytes, second.bytes),
            .blocks = std::min(first.blocks, second.blocks),
            .events = few(std::uint64_t{first.events} + second.events) & INT32_MAX};
}

} // namespace

void GrowthSeries::born(const Block& block)
{
    worked(block.ticks, !format::is_object(block.memory));
    const Site& site = sites_[block.site];
    Series& series = series_.of(block.site);
    series.least_size = std::min(series.least_size, block.bytes);
    series.largest_size = std::max(series.largest_size, block.bytes);
    series.frees_by_last = site.frees;
    note(series, block.ticks, {site.live_bytes - block.bytes, site.live_blocks - 1},
         {site.live_bytes, site.live_blocks});
}

void GrowthSeries::freed(const Block& block, std::uint64_t ticks)
{
    work_end_.freed(ticks);
    const Site& site = sites_[block.site];
    Series& series = series_.of(block.site);
    if (series.freed_after != allocations_.count()) {
        series.freed_after = allocations_.count();
        series.freed = {.site = block.site};
    }
    series.freed.bytes += block.bytes;
    ++series.freed.blocks;
    note(series, ticks, {site.live_bytes + block.bytes, site.live_blocks + 1},
         {site.live_bytes, site.live_blocks});
}

void GrowthSeries::worked(std::uint64_t ticks, bool memory)
{
    if (work_end_.allocated(ticks, memory))
        allocations_.add(ticks);
}

std::vector<SiteShare> GrowthSeries::freed_last() const
{
    std::vector<SiteShare> freed;
    for (SiteId site = 0; site < series_.size(); ++site)
        if (series_[site].freed.blocks > 0 && series_[site].freed_after == allocations_.count())
            freed.push_back(series_[site].freed);
    return freed;
}

void GrowthSeries::context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks)
{
    work_end_.freed(ticks);
    for (const SiteLoss& loss : losses) {
        const Site& site = sites_[loss.site];
        note(series_.of(loss.site), ticks,
             {site.live_bytes + loss.bytes, site.live_blocks + loss.blocks},
             {site.live_bytes, site.live_blocks});
    }
}

void GrowthSeries::note(Series& series, std::uint64_t ticks, Live before, Live after)
{
    if (series.events++ == 0)
        series.first_ticks = series.kept_ticks = ticks;
    ticks = std::max(ticks, series.last_ticks); // what comes late is as late as its record
    const bool after_a_gap = ticks - series.kept_ticks > series.short_ticks;
    if (after_a_gap) [[unlikely]] {
        --series.events; // this one is of the next span
        level_to(series, ticks, before, after);
        ++series.events;
    }
    series.last_ticks = ticks;
    series.floor_bytes = std::min(series.floor_bytes, after.bytes);
    series.floor_blocks = std::min(series.floor_blocks, after.blocks);
    if (!after_a_gap && series.events - series.kept_events > series.few_events)
        keep(series, ticks, after, false);
}

// The floor of what happened, and then the level time without events. `then`: what follows.
void GrowthSeries::level_to(Series& series, std::uint64_t ticks, Live level, Live then)
{
    if (series.last_ticks > series.kept_ticks)
        keep(series, series.last_ticks, level, false);
    keep(series, ticks, then, true);
}

void GrowthSeries::keep(Series& series, std::uint64_t ticks, Live now, bool level)
{
    if (series.floors.size() == kMostFloors)
        join_least(series);
    // Made whole: a bit field that is set alone is read before, from memory far off.
    series.floors.push_back({.ticks = ticks,
                             .bytes = series.floor_bytes,
                             .blocks = narrow(series.floor_blocks),
                             .events = few(series.events - series.kept_events) & INT32_MAX,
                             .level = level});
    series.kept_events = series.events;
    series.kept_ticks = ticks;
    series.few_events = series.events / (kParts - 1);
    series.short_ticks = (ticks - series.first_ticks) / (kParts - 1);
    series.floor_bytes = now.bytes;
    series.floor_blocks = now.blocks;
}

// Two neighbours become one, kJoins times: those that are least together, in events and in time.
void GrowthSeries::join_least(Series& series)
{
    std::vector<Floor>& floors = series.floors;
    const double per_event = 1.0 / static_cast<double>(std::max<std::uint64_t>(series.events, 1));
    const double per_tick =
        1.0 /
        static_cast<double>(std::max<std::uint64_t>(series.kept_ticks - series.first_ticks, 1));
    // What a floor and the next one take up of the site's life. `begin`: of the first one's span.
    const auto share = [&](std::uint64_t begin, const Floor& first, const Floor& next) {
        // Signed: the processor converts no other.
        const std::int64_t events = std::int64_t{first.events} + next.events;
        const auto ticks = static_cast<std::int64_t>(next.ticks - begin);
        return static_cast<double>(events) * per_event + static_cast<double>(ticks) * per_tick;
    };
    std::array<double, kMostFloors> whole;
    std::uint64_t begin = series.first_ticks;
    for (std::size_t at = 0; at + 1 < kMostFloors; ++at) {
        whole[at] = share(begin, floors[at], floors[at + 1]);
        begin = floors[at].ticks;
    }
    whole.back() = kNoShare;
    Shares shares(whole);
    static constexpr Chain kWhole;
    Chain chain = kWhole;
    const auto share_of = [&](std::size_t at) {
        const std::size_t next = chain.next[at];
        if (next == kMostFloors)
            return kNoShare;
        return share(at > 0 ? floors[chain.before[at]].ticks : series.first_ticks, floors[at],
                     floors[next]);
    };
    std::size_t kept = kMostFloors; // those before this one stay where they are
    for (std::size_t joins = 0; joins < kJoins; ++joins) {
        const std::size_t at = shares.least();
        const std::size_t gone = chain.next[at];
        kept = std::min(kept, gone);
        floors[at] = joined(floors[at], floors[gone]);
        chain.remove(gone);
        shares.set(gone, kNoShare);
        shares.set(at, share_of(at));
        if (at > 0)
            shares.set(chain.before[at], share_of(chain.before[at]));
    }
    for (std::size_t at = chain.next[kept - 1]; at < kMostFloors; at = chain.next[at])
        floors[kept++] = floors[at];
    floors.resize(kept);
}

std::vector<Floor> GrowthSeries::floors(SiteId site, std::uint64_t end_ticks) const
{
    if (site >= series_.size())
        return {};
    Series series = series_[site];
    const Live now{sites_[site].live_bytes, sites_[site].live_blocks};
    level_to(series, std::max(end_ticks, series.last_ticks), now, now);
    return std::move(series.floors);
}

std::uint64_t GrowthSeries::frees_by_last(SiteId site) const noexcept
{
    return site < series_.size() ? series_[site].frees_by_last : 0;
}

bool GrowthSeries::one_size(SiteId site) const noexcept
{
    return site < series_.size() && series_[site].least_size == series_[site].largest_size;
}

// Times that go back would be shares that are no numbers, or negative.
bool GrowthSeries::rebuild()
{
    const auto is_sound = [this](const Series& series) {
        std::uint64_t last = series.first_ticks;
        bool rises = true;
        for (const Floor& floor : series.floors)
            rises = rises && std::exchange(last, floor.ticks) <= floor.ticks;
        return rises && last <= series.kept_ticks && series.kept_ticks <= series.last_ticks &&
               series.last_ticks <= INT64_MAX && series.kept_events <= series.events &&
               series.floors.size() <= kMostFloors && series.freed.site < sites_.all().size();
    };
    bool sound = series_.size() <= sites_.all().size();
    for (SiteId site = 0; sound && site < series_.size(); ++site)
        sound = is_sound(series_[site]);
    return sound;
}

} // namespace vramscope::report
