// report/model/leaks.cpp — rows of several processes together, and the words of the JSON report.
#include "report/model/leaks.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace vramscope::report {

void LostRows::take(LostRows&& more)
{
    const auto move_to = [](auto& all, auto& some) {
        std::move(some.begin(), some.end(), std::back_inserter(all));
    };
    move_to(leaks, more.leaks);
    move_to(imports, more.imports);
    move_to(owners, more.owners);
    move_to(graph_memory, more.graph_memory);
    move_to(reservations, more.reservations);
    move_to(sums, more.sums);
}

void LostRows::sort()
{
    for (std::vector<Leak>* const rows : {&leaks, &imports, &owners, &graph_memory, &reservations})
        sort_by_size(*rows);
    sort_by_size(sums);
}

void sort_by_speed(std::vector<Growth>& growth)
{
    std::stable_sort(growth.begin(), growth.end(), [](const Growth& a, const Growth& b) {
        return std::tie(b.rate.bytes_per_second, b.bytes, b.blocks) <
               std::tie(a.rate.bytes_per_second, a.bytes, a.blocks);
    });
}

} // namespace vramscope::report
