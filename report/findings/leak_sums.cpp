// report/findings/leak_sums.cpp — rows are added to the sum of their function.
#include "report/findings/leak_sums.hpp"

#include <algorithm>
#include <utility>

#include "report/findings/findings.hpp"
#include "report/findings/growth/growth_table.hpp"

namespace vramscope::report {

void LeakSums::add(const Leak& row, std::uint64_t last_ticks)
{
    const Frame* const frame = row.own_frame();
    if (!frame || row.suppression || !is_own_memory(row.memory))
        return;
    const std::string key = std::string(1, static_cast<char>(row.kind)) +
                            static_cast<char>(row.memory) + std::to_string(row.device) + '\0' +
                            function_key(*frame);
    const auto [at, added] = sums_.try_emplace(key);
    Sum& all = at->second;
    LeakSum& sum = all.sum;
    if (added || row.bytes > all.most_bytes) {
        all.most_bytes = row.bytes;
        sum.api = row.api;
        sum.entry_point = row.entry_point;
        sum.stack = {*frame};
    }
    sum.kind = row.kind;
    sum.memory = row.memory;
    sum.device = row.device;
    sum.process = row.process;
    sum.first_ns = added ? row.first_ns : std::min(sum.first_ns, row.first_ns);
    sum.last_ns = std::max(sum.last_ns, row.last_ns);
    sum.bytes += row.bytes;
    sum.blocks += row.blocks;
    ++sum.stacks;
    all.last_ticks = std::max(all.last_ticks, last_ticks);
    std::string place;
    append_place(place, *frame);
    all.places.insert(std::move(place));
}

std::vector<LeakSum> LeakSums::take(std::uint64_t duration_ns, const GrowthTable* growth)
{
    std::vector<LeakSum> sums;
    for (auto& [key, all] : sums_) {
        if (all.places.size() == all.sum.stacks)
            continue;
        all.sum.pattern = pattern_of(all.sum, duration_ns);
        if (growth)
            growth->classify_sum(all.sum, all.last_ticks);
        sums.push_back(std::move(all.sum));
    }
    return sums;
}

} // namespace vramscope::report
