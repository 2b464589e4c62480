// report/findings/growth/growth_table.cpp — sites become rows, rows are judged, leaks get a class.
#include "report/findings/growth/growth_table.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "report/findings/growth/step_names.hpp"

namespace vramscope::report {
namespace {

using RawPlace = std::tuple<std::uint64_t, std::uint64_t, format::Memory, std::int32_t>;

PlaceSeries series_of(SiteId id, const GrowthSource& source)
{
    const Site& site = source.sites[id];
    const std::uint64_t frees_by_last = source.series.frees_by_last(id);
    return {.floors = source.series.floors(id, source.log_end_ticks),
            .allocations = site.allocations,
            .allocated_bytes = site.allocated_bytes,
            .frees_by_last = frees_by_last,
            .frees_later = site.frees - std::min(site.frees, frees_by_last),
            .first_ticks = site.first_ticks,
            .last_ticks = site.last_ticks,
            .one_size = source.series.one_size(id),
            .same_size = source.series.one_size(id)};
}

std::string joined(const std::vector<std::string>& path)
{
    std::string all;
    for (const std::string& name : path)
        all += (all.empty() ? "" : "/") + name;
    return all;
}

// What a rule knows lends nothing to what it does not know, and takes nothing from it, though a
// reader sees one stack.
std::string place_of_row(const CallPlace& call)
{
    return call.key() + std::to_string(call.suppression.value_or(SIZE_MAX));
}

// What grows is told by its rows, if these have so much of it.
constexpr double kNearlyAll = 0.9;
// Of several rows there are more ways to rise by chance than of one.
constexpr std::uint64_t kRisesOfSum = 10;

double speed_of(const GrowthRate& rate)
{
    return rate.bytes_per_second > 0 ? rate.bytes_per_second : rate.blocks_per_step;
}

// Where nothing tells more.
LeakClass class_by_number(const Leak& leak)
{
    return leak.blocks == 1 ? LeakClass::once : LeakClass::several;
}

} // namespace

std::string GrowthTable::key_of(format::Memory memory, std::int32_t device,
                                const std::string& place)
{
    return std::to_string(static_cast<int>(memory)) + ' ' + std::to_string(device) + ' ' + place;
}

GrowthContext GrowthTable::context_of(const StepName* steps) const
{
    return {.steps = steps ? &steps->counter : nullptr,
            .allocations = source_.work.allocations,
            .clock = clock_,
            .begin_ticks = source_.work.begin_ticks,
            .end_ticks = source_.work.end_ticks,
            .beside_steps = !steps && has_steps_};
}

GrowthTable::GrowthTable(const GrowthSource& source, const std::vector<LostBlocks>& lost,
                         const LeakSource& process)
    : source_(source), has_steps_(source.steps.any()), clock_(process.clock),
      process_(process.process)
{
    std::vector<RawPlace> losers;
    losers.reserve(lost.size());
    for (const LostBlocks& blocks : lost)
        losers.emplace_back(blocks.stack, blocks.api, blocks.memory, blocks.device);
    std::sort(losers.begin(), losers.end());
    const auto loses = [&](const RawPlace& place) {
        return std::binary_search(losers.begin(), losers.end(), place);
    };
    std::map<RawPlace, std::vector<SiteId>> places;
    for (SiteId id = 0; id < source.sites.all().size(); ++id) {
        const Site& site = source.sites[id];
        const format::MemoryClass kind = class_of(site.memory);
        // Blocks of graphs never end, and what an allocator has reserved is no block.
        if (kind == format::MemoryClass::graph || kind == format::MemoryClass::reserved)
            continue;
        const RawPlace place{site.stack, site.api, site.memory, site.device};
        if (process.stacks.is_listed(site.stack) || !loses(place))
            places[place].push_back(id);
        // else it has no row: whether these grow, those that are listed tell
    }
    for (const auto& [raw, sites] : places)
        add(sites, loses(raw), process.stacks);
    for (auto& [key, row] : rows_)
        judge(row);
    sum_up_functions();
}

void GrowthTable::judge(Row& row) const
{
    const StepName* const steps = row.steps;
    std::vector<PlaceSeries> all = row.parts;
    all.insert(all.end(), row.lost_parts.begin(), row.lost_parts.end());
    row.series = sum_of(all);
    judge_series(row);
    if (row.finding.growing && !row.lost_parts.empty() && !row.parts.empty())
        part(row, steps);
    row.parts.clear();
    row.lost_parts.clear();
}

// A reader sees one stack. Is what grows not what is lost, each is told by itself.
// `steps`: those that suit it.
void GrowthTable::part(Row& row, const StepName* steps) const
{
    Row lost = row, freed = row;
    lost.steps = freed.steps = steps;
    lost.place = row.lost_place;
    lost.series = sum_of(row.lost_parts);
    judge_series(lost);
    freed.place = row.other_place;
    freed.series = sum_of(row.parts);
    freed.lost = false;
    judge_series(freed);
    if (lost.finding.growing || !freed.finding.growing)
        return;
    row = std::move(lost);
    row.freed = std::make_shared<const Row>(std::move(freed));
}

void GrowthTable::judge_series(Row& row) const
{
    row.finding = judge_growth(row.series, context_of(row.steps));
    if (row.steps && row.steps->counter.count() < kProvingSteps)
        if (GrowthFinding of_calls = judge_growth(row.series, context_of(nullptr));
            of_calls.growing) {
            row.finding = std::move(of_calls);
            row.steps = nullptr;
        }
    if (row.steps)
        row.finding.rate.per = step_word(row.steps->name);
}

// What is known to leak is in no sum. Where each row has a line of its own, the rows tell more.
void GrowthTable::sum_up_functions()
{
    for (auto& [key, row] : rows_) {
        const Frame* const frame = row.place.own_frame();
        if (!row.lost || !frame || row.place.suppression)
            continue;
        row.function = key_of(row.memory, row.device, function_key(*frame));
        Function& function = functions_[row.function];
        Row& sum = function.sum;
        if (row.most_allocations > sum.most_allocations || function.stacks == 0) {
            sum.most_allocations = row.most_allocations;
            sum.steps = row.steps;
            sum.place = row.place;
            sum.phase = row.phase;
        }
        sum.memory = row.memory;
        sum.device = row.device;
        sum.lost = true;
        sum.parts.push_back(row.series);
        ++function.stacks;
        std::string line;
        append_place(line, *frame);
        function.lines.insert(std::move(line));
        function.told += row.finding.growing ? speed_of(row.finding.rate) : 0;
    }
    std::erase_if(functions_, [](const auto& entry) { return entry.second.stacks == 1; });
    for (auto& [key, function] : functions_) {
        judge(function.sum);
        GrowthFinding& finding = function.sum.finding;
        finding.growing = finding.growing && finding.rises >= kRisesOfSum;
        function.tells = finding.growing && function.lines.size() < function.stacks &&
                         function.told < kNearlyAll * speed_of(finding.rate);
    }
}

// `sites`: of one stack, entry point, memory and device.
void GrowthTable::add(const std::vector<SiteId>& sites, bool loses, StackReader& stacks)
{
    std::vector<PlaceSeries> parts;
    SiteId most = sites.front();
    for (const SiteId id : sites) {
        parts.push_back(series_of(id, source_));
        if (source_.sites[id].allocations > source_.sites[most].allocations)
            most = id;
    }
    PlaceSeries sum = sum_of(parts);
    const std::vector<std::string> phase = source_.phases.kind_path(source_.sites[most].phase);
    sum.prepares = std::any_of(phase.begin(), phase.end(), says_preparation);
    const StepName* const steps =
        source_.wanted ? source_.wanted : source_.steps.best_of(sum, phase);
    if (!loses && !may_grow(sum, context_of(steps)))
        return;
    const Site& site = source_.sites[most];
    CallPlace place = stacks.read(site.api, site.stack, sum.first_ticks);
    const auto [at, added] =
        rows_.try_emplace(key_of(site.memory, site.device, place_of_row(place)));
    Row& row = at->second;
    if ((loses ? row.lost_parts : row.parts).empty())
        (loses ? row.lost_place : row.other_place) = place;
    if (added)
        row.place = std::move(place);
    else
        row.place.merge(place);
    row.memory = site.memory;
    row.device = site.device;
    row.lost = row.lost || loses;
    for (const SiteId id : sites)
        row.has_live = row.has_live || (!loses && source_.sites[id].live_blocks > 0);
    if (site.allocations > row.most_allocations) {
        row.most_allocations = site.allocations;
        row.phase = joined(phase);
        row.steps = steps;
    }
    (loses ? row.lost_parts : row.parts).push_back(std::move(sum));
}

void GrowthTable::classify(Leak& leak, std::uint64_t last_ticks) const
{
    leak.leak_class = class_by_number(leak);
    const auto found = rows_.find(key_of(leak.memory, leak.device, place_of_row(leak)));
    if (found != rows_.end()) // else it is memory of a graph
        classify(leak, last_ticks, found->second);
}

std::uint64_t GrowthTable::classify_objects(Leak& objects, std::uint64_t last_ticks) const
{
    objects.leak_class = class_by_number(objects);
    const auto found = rows_.find(key_of(objects.memory, objects.device, place_of_row(objects)));
    if (found == rows_.end())
        return 0;
    const Function* const function = teller_of(found->second);
    const Row& row = function ? function->sum : found->second;
    classify(objects, last_ticks, row);
    std::uint64_t most = 0;
    if (row.finding.growing)
        for (const Floor& floor : row.series.floors)
            most = std::max<std::uint64_t>(most, floor.blocks);
    return most;
}

void GrowthTable::classify_sum(LeakSum& sum, std::uint64_t last_ticks) const
{
    sum.leak_class = LeakClass::several;
    const auto found =
        functions_.find(key_of(sum.memory, sum.device, function_key(sum.stack.front())));
    if (found != functions_.end())
        classify(sum, last_ticks, found->second.sum);
}

void GrowthTable::classify(Leak& leak, std::uint64_t last_ticks, const Row& row) const
{
    const bool one = leak.blocks == 1;
    const GrowthFinding& finding = row.finding;
    if (finding.growing) {
        leak.leak_class = LeakClass::growing;
    } else if (is_start_up(last_ticks, one, context_of(row.steps))) {
        leak.leak_class = LeakClass::start_up;
    } else if (finding.bounded && last_ticks == row.series.last_ticks) {
        leak.leak_class = LeakClass::cache;
    } else if (!one && finding.of_a_loop && finding.rises >= kRisesToTell) {
        leak.leak_class = LeakClass::unclear;
    }
    if (leak.leak_class == LeakClass::growing || leak.leak_class == LeakClass::unclear)
        leak.rate = finding.rate;
    for (const Floor& floor : row.series.floors)
        leak.alive.push_back({clock_.ns(floor.ticks), floor.bytes});
}

const GrowthTable::Function* GrowthTable::teller_of(const Row& row) const
{
    const auto function = functions_.find(row.function);
    return function != functions_.end() && function->second.tells ? &function->second : nullptr;
}

std::string GrowthTable::told_by(const Leak& leak) const
{
    const auto row = rows_.find(key_of(leak.memory, leak.device, place_of_row(leak)));
    if (row == rows_.end())
        return {};
    return teller_of(row->second) ? row->second.function : std::string();
}

Growth GrowthTable::growth_of(const Row& row) const
{
    Growth growth;
    static_cast<CallPlace&>(growth) = row.place;
    growth.rate = row.finding.rate;
    growth.memory = row.memory;
    growth.device = row.device;
    growth.bytes = row.finding.bytes;
    growth.blocks = row.finding.blocks;
    growth.freed = !row.lost && !row.has_live;
    growth.phase = row.phase;
    growth.process = process_;
    return growth;
}

std::vector<Growth> GrowthTable::growing() const
{
    const auto has_other_rows = [](const Row& row) {
        return class_of(row.memory) == format::MemoryClass::addresses ||
               format::is_object(row.memory);
    };
    std::vector<Growth> growing;
    for (const auto& [key, row] : rows_) {
        if (has_other_rows(row))
            continue;
        if (row.finding.growing && !teller_of(row))
            growing.push_back(growth_of(row));
        if (row.freed)
            growing.push_back(growth_of(*row.freed));
    }
    for (const auto& [key, function] : functions_)
        if (function.tells && !has_other_rows(function.sum)) {
            growing.push_back(growth_of(function.sum));
            growing.back().stacks = function.stacks;
        }
    sort_by_speed(growing);
    return growing;
}

} // namespace vramscope::report
