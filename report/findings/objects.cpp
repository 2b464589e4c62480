// report/findings/objects.cpp — sites of objects by the place that a reader sees, and their sums.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/growth/growth_table.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostObjectRows = 1000; // of a process

std::vector<const Site*> object_sites(const Sites& sites)
{
    std::vector<const Site*> found;
    for (const Site& site : sites.all())
        if (is_object(site.memory))
            found.push_back(&site);
    std::stable_sort(found.begin(), found.end(), [](const Site* a, const Site* b) {
        return std::tie(b->live_blocks, b->allocations) < std::tie(a->live_blocks, a->allocations);
    });
    return found;
}

// What was left of a step before a run, and is left of one behind it, is not the run's: of objects
// that take turns with others, as of a graph and a stream that each request makes, each may be a
// whole step off, and always the same way.
std::uint64_t error_of_steps(std::uint64_t runs)
{
    return runs * kDriverStep;
}

// What others may have moved while objects were made: as often as they did in between, or nearly
// always fewer times than that, and as far as they ever did; and as much again as they were seen to
// give back meanwhile.
std::uint64_t error_of_others(const MeasuredObjects& sum, const MovedByOthers& others)
{
    constexpr double kHardlyEver = 0.02;
    const double expected = others.ticks == 0 ? 0
                                              : static_cast<double>(others.moves) *
                                                    static_cast<double>(sum.ticks) /
                                                    static_cast<double>(others.ticks);
    const double times = expected < kHardlyEver ? 0 : std::ceil(expected + 2 * std::sqrt(expected));
    return static_cast<std::uint64_t>(times * static_cast<double>(others.largest)) + 2 * sum.rose +
           sum.largest_rise;
}

std::optional<ObjectBytes> taken_for(const MeasuredObjects& sum, const MovedByOthers& others)
{
    if (sum.objects == 0)
        return std::nullopt;
    const std::uint64_t error = error_of_steps(sum.runs) + error_of_others(sum, others);
    const std::uint64_t bytes = sum.fell - std::min(sum.fell, sum.rose);
    return ObjectBytes{sum.objects, bytes, bytes - std::min(bytes, error), bytes + error};
}

void join_in(ObjectRow& row, const Site& site, const TickClock& clock)
{
    const std::uint64_t first_ns = clock.ns(site.first_ticks);
    row.first_ns = row.made == 0 ? first_ns : std::min(row.first_ns, first_ns);
    row.last_ns = std::max(row.last_ns, clock.ns(site.last_ticks));
    row.made += site.allocations;
    row.ended += site.frees;
    row.blocks += site.live_blocks;
}

} // namespace

std::vector<ObjectRow> find_objects(const Sites& sites, const TakenByDriver& taken,
                                    const LeakSource& source, const GrowthTable& growth)
{
    struct Row {
        ObjectRow object;
        std::uint64_t last_ticks = 0;
        MeasuredObjects measured;
        std::set<std::string> places;
    };
    std::map<std::tuple<format::Memory, std::int32_t, std::string>, Row> rows;
    std::vector<const Site*> found = object_sites(sites);
    found.resize(std::min(found.size(), kMostObjectRows)); // each may be a row, and takes some KiB
    for (const Site* const site : found) {
        const auto id = static_cast<SiteId>(site - sites.all().data());
        ObjectRow one;
        static_cast<CallPlace&>(one) =
            source.stacks.read_row(site->api, site->stack, site->first_ticks);
        one.kind = LeakKind::never_destroyed;
        one.memory = site->memory;
        one.device = site->device;
        one.process = source.process;
        std::string place = one.key() + std::to_string(one.suppression.value_or(SIZE_MAX));
        const std::string function = growth.told_by(one);
        const auto [at, added] = rows.try_emplace(
            {site->memory, site->device, function.empty() ? place : "\n" + function});
        ObjectRow& row = at->second.object;
        at->second.places.insert(std::move(place));
        if (added)
            row = std::move(one);
        else if (function.empty())
            row.merge(one);
        join_in(row, *site, source.clock);
        at->second.measured.join(taken.of(id));
        at->second.last_ticks = std::max(at->second.last_ticks, site->last_ticks);
    }
    std::vector<ObjectRow> objects;
    for (auto& [key, row] : rows) {
        row.object.taken = taken_for(row.measured, taken.on(row.object.device).others);
        row.object.stacks = row.places.size();
        row.object.at_once = growth.classify_objects(row.object, row.last_ticks);
        objects.push_back(std::move(row.object));
    }
    std::stable_sort(objects.begin(), objects.end(), [](const ObjectRow& a, const ObjectRow& b) {
        return std::tuple(b.piles_up(), b.most_known(), b.made) <
               std::tuple(a.piles_up(), a.most_known(), a.made);
    });
    return objects;
}

std::vector<ObjectTotal> sum_up_objects(const Sites& sites)
{
    std::map<format::Memory, ObjectTotal> totals;
    for (const Site* const site : object_sites(sites)) {
        ObjectTotal& total = totals[site->memory];
        total.object = site->memory;
        total.made += site->allocations;
        total.ended += site->frees;
        total.alive += site->live_blocks;
    }
    std::vector<ObjectTotal> all;
    for (const auto& [memory, total] : totals)
        all.push_back(total);
    return all;
}

} // namespace vramscope::report
