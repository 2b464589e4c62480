// report/findings/growth/place_series.cpp — the moments of all places, thinned.
#include <algorithm>
#include <cstddef>

#include "report/findings/growth/growth_rule.hpp"

namespace vramscope::report {
namespace {

// Adds the least that a place had in each span.
void add_to(std::vector<Floor>& spans, const std::vector<Floor>& floors)
{
    std::size_t at = 0; // the first floor that reaches into the span
    for (Floor& span : spans) {
        if (at == floors.size())
            return;
        std::uint64_t bytes = UINT64_MAX;
        std::uint32_t blocks = UINT32_MAX;
        std::uint64_t events = span.events;
        for (bool within = true; within && at < floors.size();) {
            const Floor& floor = floors[at];
            bytes = std::min(bytes, floor.bytes);
            blocks = std::min(blocks, floor.blocks);
            span.level &= floor.level;
            within = floor.ticks < span.ticks;
            if (floor.ticks <= span.ticks) {
                events += floor.events;
                ++at;
            }
        }
        span.bytes += bytes;
        span.blocks += blocks;
        span.events =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(events, INT32_MAX)) & INT32_MAX;
    }
}

std::uint64_t mean_of(const PlaceSeries& place)
{
    return place.allocated_bytes / std::max<std::uint64_t>(place.allocations, 1);
}

} // namespace

PlaceSeries sum_of(const std::vector<PlaceSeries>& places)
{
    if (places.size() == 1)
        return places.front();
    PlaceSeries sum;
    sum.first_ticks = UINT64_MAX;
    sum.one_size = true;
    sum.same_size = true;
    sum.prepares = true;
    std::vector<std::uint64_t> moments;
    for (const PlaceSeries& place : places) {
        sum.allocations += place.allocations;
        sum.allocated_bytes += place.allocated_bytes;
        sum.frees_by_last += place.frees_by_last;
        sum.frees_later += place.frees_later;
        sum.first_ticks = std::min(sum.first_ticks, place.first_ticks);
        sum.last_ticks = std::max(sum.last_ticks, place.last_ticks);
        sum.one_size = sum.one_size && place.one_size;
        sum.same_size = sum.same_size && place.same_size && mean_of(place) == mean_of(places[0]);
        sum.prepares = sum.prepares && place.prepares;
        for (const Floor& floor : place.floors)
            moments.push_back(floor.ticks);
    }
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    const std::size_t every = (moments.size() + kMostFloors - 1) / kMostFloors;
    for (std::size_t at = moments.size(); at > 0; at -= std::min(at, every))
        sum.floors.push_back({.ticks = moments[at - 1], .level = 1});
    std::reverse(sum.floors.begin(), sum.floors.end());
    for (const PlaceSeries& place : places)
        add_to(sum.floors, place.floors);
    return sum;
}

} // namespace vramscope::report
