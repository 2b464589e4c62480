// report/judge/compared_holdings.cpp — what holds leaks, objects, contexts and owners, in two runs.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/judge/judge.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

// The leaks of one call stack in one run.
struct HeldPlace {
    const CallPlace* place = nullptr;
    std::vector<ReachGroup> groups;
};
using HeldPlaces = std::map<std::string, HeldPlace>; // keyed by fingerprint and kind of memory

HeldPlaces held_places(const Report& report)
{
    HeldPlaces places;
    for (const Leak& leak : report.leaks) {
        if (leak.reach.empty())
            continue;
        HeldPlace& place = places[leak.fingerprint + name(leak.memory)];
        place.place = &leak;
        for (const ReachGroup& group : leak.reach)
            add_group(place.groups, group);
    }
    return places;
}

ReachSide side_of(std::vector<ReachGroup> groups)
{
    ReachSide side;
    std::stable_sort(groups.begin(), groups.end(), comes_before);
    for (const ReachGroup& group : groups)
        sum_in(side, group.verdict).add(group.sum);
    const Reached told = side.lost.blocks > 0 ? Reached::lost : Reached::held;
    const auto most = std::find_if(groups.begin(), groups.end(), [told](const ReachGroup& group) {
        return group.verdict == told;
    });
    side.how = most == groups.end() ? "" : most->how();
    return side;
}

// What is only possibly held was perhaps lost before.
bool is_held(const ReachSide& side)
{
    return side.lost.blocks == 0 && side.possibly.blocks == 0 && side.held.blocks > 0;
}

// Contexts are rows of their own.
bool is_compared(const ObjectRow& row)
{
    return row.memory != format::Memory::context;
}

using Objects = std::map<std::tuple<std::string, format::Memory, std::int32_t>, ComparedObject>;

enum class Of { base, now };

void add_object(Objects& objects, Of side, const CallPlace& place, format::Memory object,
                std::int32_t device, std::uint64_t made, std::uint64_t alive)
{
    ComparedObject& row = objects[{place.fingerprint, object, device}];
    row.place = &place;
    row.object = object;
    row.device = device;
    (side == Of::base ? row.base_made : row.new_made) += made;
    (side == Of::base ? row.base_alive : row.new_alive) += alive;
}

void add_objects(Objects& objects, Of side, const Report& report)
{
    for (const ObjectRow& row : report.objects)
        if (is_compared(row))
            add_object(objects, side, row, row.memory, -1, row.made, row.blocks);
}

void add_contexts(Objects& objects, Of side, const Report& report)
{
    for (const ContextRow& row : report.contexts)
        if (row.is_opened())
            add_object(objects, side, row, format::Memory::context, row.device, 1,
                       row.ended ? 0 : 1);
}

Change change_of(const ComparedObject& row)
{
    return row.base_made == 0               ? Change::added
           : row.new_made == 0              ? Change::gone
           : row.base_alive < row.new_alive ? Change::grown
           : row.base_alive > row.new_alive ? Change::shrunk
                                            : Change::same;
}

// A report lists so many rows of a process at most.
bool lists_all_objects(const Report& report)
{
    std::uint64_t made = 0;
    std::uint64_t listed = 0;
    for (const Process& process : report.processes)
        for (const ObjectTotal& total : process.objects)
            made += total.made;
    for (const ObjectRow& row : report.objects)
        listed += row.made;
    return made == listed;
}

bool all_record(const Report& report, std::string_view what)
{
    return std::all_of(report.processes.begin(), report.processes.end(),
                       [what](const Process& process) { return process.records(what); });
}

// True: both sides have it.
bool both_record(Comparison& comparison, const Report& base, const Report& now, const char* what)
{
    const bool base_has = all_record(base, what);
    const bool now_has = all_record(now, what);
    if (base_has != now_has)
        comparison.not_compared.push_back(
            fmt::format("{}, which {} does not record", what, base_has ? "new" : "base"));
    return base_has && now_has;
}

OwnerSide& side_of(ComparedOwner& owner, Of side)
{
    return side == Of::base ? owner.base : owner.now;
}

void add_owners(std::vector<ComparedOwner>& owners, Of side, const Report& report)
{
    for (const OwnerSums& sums : report.by_owner) {
        auto at = std::find_if(owners.begin(), owners.end(), [&](const ComparedOwner& known) {
            return known.owner == sums.owner && known.device == sums.device;
        });
        if (at == owners.end())
            at = owners.insert(at, {sums.owner, sums.device, {}, {}});
        OwnerSide& had = side_of(*at, side);
        had.at_peak_bytes = std::max(had.at_peak_bytes, sums.at_peak_bytes);
        had.live_bytes += sums.live_bytes;
        had.allocated_bytes += sums.allocated_bytes;
        had.allocations += sums.allocations;
    }
}

} // namespace

void compare_reach(Comparison& comparison, const Report& base, const Report& now)
{
    const HeldPlaces before = held_places(base);
    for (const auto& [key, place] : held_places(now)) {
        const auto known = before.find(key);
        if (known == before.end())
            continue;
        ComparedReach row{place.place, ReachChange::now_lost, side_of(known->second.groups),
                          side_of(place.groups)};
        const bool now_lost = is_held(row.base) && row.now.lost.blocks > 0;
        row.change = now_lost ? ReachChange::now_lost : ReachChange::now_held;
        if (now_lost || (row.base.lost.blocks > 0 && is_held(row.now)))
            comparison.reach.push_back(std::move(row));
    }
    std::stable_sort(comparison.reach.begin(), comparison.reach.end(),
                     [](const ComparedReach& a, const ComparedReach& b) {
                         return std::tie(a.change, b.now.lost.bytes) <
                                std::tie(b.change, a.now.lost.bytes);
                     });
}

void compare_objects(Comparison& comparison, const Report& base, const Report& now)
{
    Objects objects;
    if (both_record(comparison, base, now, "objects")) {
        add_objects(objects, Of::base, base);
        add_objects(objects, Of::now, now);
    }
    if (both_record(comparison, base, now, "contexts")) {
        add_contexts(objects, Of::base, base);
        add_contexts(objects, Of::now, now);
    }
    const bool base_is_whole = lists_all_objects(base);
    const bool now_is_whole = lists_all_objects(now);
    for (auto& [key, row] : objects) {
        row.change = change_of(row);
        const bool may_be_unlisted = (row.change == Change::added && !base_is_whole) ||
                                     (row.change == Change::gone && !now_is_whole);
        if (row.change != Change::same && !may_be_unlisted)
            comparison.objects.push_back(row);
    }
    std::stable_sort(comparison.objects.begin(), comparison.objects.end(),
                     [](const ComparedObject& a, const ComparedObject& b) {
                         return std::tie(a.change, b.new_alive, b.new_made) <
                                std::tie(b.change, a.new_alive, a.new_made);
                     });
}

void compare_owners(Comparison& comparison, const Report& base, const Report& now)
{
    add_owners(comparison.owners, Of::base, base);
    add_owners(comparison.owners, Of::now, now);
    std::stable_sort(
        comparison.owners.begin(), comparison.owners.end(),
        [](const ComparedOwner& a, const ComparedOwner& b) { return a.device < b.device; });
}

} // namespace vramscope::report
