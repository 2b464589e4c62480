// report/judge/fastest_growth.cpp — rows of one function are one: a helper has one for each caller.
#include "report/judge/fastest_growth.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/judge/processes_with.hpp"

namespace vramscope::report {
namespace {

// Per step a function has one rate; per call each of its lines has its own.
bool has_one_rate(const Growth& a, const Growth& b)
{
    const Frame* const one = a.own_frame();
    const Frame* const other = b.own_frame();
    return a.process == b.process && a.memory == b.memory && a.device == b.device &&
           a.freed == b.freed && a.rate.step() == b.rate.step() && one && other &&
           function_key(*one) == function_key(*other) &&
           (!a.rate.per.empty() || one->line == other->line);
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
Growth with_all_of_its_function(const std::vector<const Growth*>& rows)
{
    Growth sum = *rows.front();
    for (std::size_t at = 1; at < rows.size(); ++at) {
        const Growth& row = *rows[at];
        if (!has_one_rate(sum, row))
            continue;
        add_rate(sum.rate, row.rate);
        sum.stacks += row.stacks;
    }
    return sum;
}

} // namespace

FastestGrowth fastest_growth(const Report& report)
{
    std::vector<const Growth*> rows;
    std::map<std::string, std::size_t> stacks_at; // of each place, whichever processes have it
    for (const Growth& row : report.growth)
        if (is_proven(report, row.process)) {
            rows.push_back(&row);
            std::size_t& known =
                stacks_at[row.key() + format::name(row.memory) + std::to_string(row.device)];
            known = std::max(known, row.stacks);
        }
    Growth first = with_all_of_its_function(rows);
    std::size_t stacks = 0;
    for (const auto& [place, count] : stacks_at)
        stacks += count;
    const std::size_t others = stacks - std::min(stacks, first.stacks);
    return {std::move(first), others};
}

} // namespace vramscope::report
