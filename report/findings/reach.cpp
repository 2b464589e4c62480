// report/findings/reach.cpp — what a search of the memory found, put to the rows of leaks.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/findings.hpp"
#include "report/model/site_sums.hpp"
#include "report/replay/searches.hpp"

namespace vramscope::report {
namespace {

// Blocks of an ended context were not alive when the memory was searched.
bool was_alive(const Leak& leak)
{
    return leak.kind != LeakKind::at_reset;
}

} // namespace

void add_reach(std::vector<Leak>& leaks, const Searches& searches, const LeakSource& source)
{
    std::map<PlaceKey, Leak*> rows;
    for (Leak& leak : leaks)
        if (!searches.found().empty() && was_alive(leak))
            rows.try_emplace(key_of_place(leak), &leak);
    for (const LoggedReach& found : searches.found()) {
        const CallPlace place =
            source.stacks.read_row(found.api, found.stack, searches.last()->ticks);
        const auto row = rows.find(key_of_place(place, found.memory, found.device));
        if (row == rows.end())
            continue; // it was freed later
        const ReachWord word = reach_word(found.reach);
        add_group(row->second->reach,
                  {word.verdict, word.doubt, {found.bytes, found.blocks}, steps_of(found.chain)});
    }
    for (Leak& leak : leaks)
        list_largest(leak.reach);
}

std::optional<MemorySearch> sum_up_search(const Searches& searches, const TickClock& clock)
{
    if (!searches.last())
        return std::nullopt;
    MemorySearch search;
    search.ns = clock.ns(searches.last()->ticks);
    search.searched_bytes = searches.last()->bytes;
    search.stopped = searches.last()->stopped;
    search.doubts = searches.last()->doubts;
    for (const LoggedReach& found : searches.found())
        sum_in(search, reach_word(found.reach).verdict).add({found.bytes, found.blocks});
    return search;
}

} // namespace vramscope::report
