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

// The program's end frees much of what it holds when it is searched, and nothing of what is lost.
// So what was freed later was of what was held for sure, and then of what perhaps was.
void leave_out_freed(Leak& leak)
{
    ReachSum all;
    for (const ReachGroup& group : leak.reach)
        all.add(group.sum);
    std::uint64_t freed = all.blocks - std::min(all.blocks, leak.blocks);
    for (const Reached verdict : {Reached::held, Reached::possibly}) {
        std::vector<ReachGroup*> groups;
        ReachSum of_these;
        for (ReachGroup& group : leak.reach)
            if (group.verdict == verdict) {
                groups.push_back(&group);
                of_these.add(group.sum);
            }
        const bool is_known = freed >= of_these.blocks || groups.size() == 1;
        if (freed == 0 || !is_known)
            break;
        for (ReachGroup* const group : groups) {
            const std::uint64_t blocks = std::min(freed, group->sum.blocks);
            const std::uint64_t bytes = blocks == group->sum.blocks
                                            ? group->sum.bytes
                                            : all.bytes - std::min(all.bytes, leak.bytes);
            group->sum = {group->sum.bytes - std::min(bytes, group->sum.bytes),
                          group->sum.blocks - blocks};
            all = {all.bytes - std::min(bytes, all.bytes), all.blocks - blocks};
            freed -= blocks;
        }
    }
    std::erase_if(leak.reach, [](const ReachGroup& group) { return group.sum.blocks == 0; });
    leak.reach_freed = freed;
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
    for (Leak& leak : leaks) {
        leave_out_freed(leak);
        leak.reach_more = list_largest(leak.reach);
    }
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
