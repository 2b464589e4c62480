// report/judge/fastest_growth.cpp — rows of one function are one: a helper has one for each caller.
#include "report/judge/fastest_growth.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/judge/processes_with.hpp"

namespace vramscope::report {
namespace {

// Per step a function has one rate; per call each of its lines has its own.
bool is_of_one_function(const Growth& a, const Growth& b)
{
    const Frame* const one = a.own_frame();
    const Frame* const other = b.own_frame();
    return a.memory == b.memory && a.freed == b.freed && a.rate.step() == b.rate.step() && one &&
           other && function_key(*one) == function_key(*other) &&
           (!a.rate.per.empty() || one->line == other->line);
}

bool has_one_rate(const Growth& a, const Growth& b)
{
    return a.process == b.process && a.device == b.device && is_of_one_function(a, b);
}

void add_rate(GrowthRate& sum, const GrowthRate& more)
{
    const bool per_call = sum.per.empty();
    const auto calls = static_cast<double>(sum.steps);
    const auto more_calls = static_cast<double>(more.steps);
    const auto add = [&](double GrowthRate::*rate) {
        sum.*rate = per_call ? (sum.*rate * calls + more.*rate * more_calls) / (calls + more_calls)
                             : sum.*rate + more.*rate;
    };
    add(&GrowthRate::bytes_per_step);
    add(&GrowthRate::least_per_step);
    add(&GrowthRate::most_per_step);
    add(&GrowthRate::blocks_per_step);
    sum.steps += per_call ? more.steps : 0;
}

// All rows of the function whose row is the fastest: a helper has one for each caller. Rates per
// step add up; of rates per call it is the mean of all calls.
Growth with_all_of_its_function(const Growth& first, const std::vector<const Growth*>& rows)
{
    Growth sum = first;
    for (const Growth* const other : rows) {
        const Growth& row = *other;
        if (other == &first || !has_one_rate(sum, row))
            continue;
        add_rate(sum.rate, row.rate);
        sum.stacks += row.stacks;
    }
    return sum;
}

// Ranks of one job may grow by the same function, and one of them ten times as fast.
double least_rate(const Growth& fastest, const std::vector<const Growth*>& rows)
{
    std::map<std::pair<std::size_t, std::int32_t>, const Growth*> firsts; // by process and device
    for (const Growth* const row : rows)
        if (row->process != fastest.process && is_of_one_function(fastest, *row))
            firsts.try_emplace({row->process, row->device}, row);
    double least = fastest.rate.bytes_per_step;
    for (const auto& [of, first] : firsts)
        least = std::min(least, with_all_of_its_function(*first, rows).rate.bytes_per_step);
    return least;
}

// Each stack of a process once on each device; of several processes those of the one with most.
std::size_t stacks_of(const std::vector<const Growth*>& rows)
{
    std::map<std::string, std::map<std::size_t, std::size_t>> stacks_at; // by place and process
    for (const Growth* const row : rows)
        stacks_at[row->key() + format::name(row->memory)][row->process] += row->stacks;
    std::size_t stacks = 0;
    for (const auto& [place, of_processes] : stacks_at) {
        std::size_t most = 0;
        for (const auto& [process, count] : of_processes)
            most = std::max(most, count);
        stacks += most;
    }
    return stacks;
}

} // namespace

FastestGrowth fastest_growth(const Report& report)
{
    std::vector<const Growth*> rows;
    for (const Growth& row : report.growth)
        if (is_proven(report, row.process))
            rows.push_back(&row);
    Growth first = with_all_of_its_function(*rows.front(), rows);
    const double least = least_rate(first, rows);
    const std::size_t stacks = stacks_of(rows);
    const std::size_t others = stacks - std::min(stacks, first.stacks);
    return {std::move(first), least, others};
}

} // namespace vramscope::report
