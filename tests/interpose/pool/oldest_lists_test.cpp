// tests/interpose/pool/oldest_lists_test.cpp — the list with the oldest head, as by looking at all.
#include "interpose/pool/oldest_lists.hpp"

#include <deque>
#include <random>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::pool;

namespace {

// Lists of turns, the oldest first; list 0 is none.
using Lists = std::vector<std::deque<std::uint64_t>>;

std::uint64_t turn_of_head(const Lists& lists, Index list)
{
    return lists[list].empty() ? OldestLists::kEmpty : lists[list].front();
}

Index oldest_of_all(const Lists& lists)
{
    Index oldest = 0;
    for (Index at = 1; at < lists.size(); ++at)
        if (!lists[at].empty() && (!oldest || lists[at].front() < lists[oldest].front()))
            oldest = at;
    return oldest;
}

Index found_by(OldestLists& oldest, const Lists& lists)
{
    return oldest.find(1, static_cast<Index>(lists.size()),
                       [&](Index list) { return turn_of_head(lists, list); });
}

} // namespace

TEST(OldestLists, AreNoneWhereAllAreEmpty)
{
    OldestLists oldest;
    EXPECT_EQ(found_by(oldest, Lists(5)), 0u);
    EXPECT_EQ(found_by(oldest, Lists(1)), 0u);
}

TEST(OldestLists, OfOneAgeTheFirstIsFound)
{
    OldestLists oldest;
    EXPECT_EQ(found_by(oldest, {{}, {}, {7}, {7}, {8}}), 2u);
}

// Blocks are freed, used again from the young end, and taken out from the old one.
TEST(OldestLists, AreFoundAsIfAllWereLookedAt)
{
    for (const std::size_t count : {3u, 64u, 1000u, 10000u}) {
        std::mt19937 random(static_cast<unsigned>(count));
        Lists lists(count + 1);
        OldestLists oldest;
        std::uint64_t turn = 0;
        int found = 0;
        for (int step = 0; step < 40000; ++step) {
            auto& list = lists[1 + random() % count];
            turn += random() % 2; // several frees may have one
            if (random() % 3 != 0)
                list.push_back(turn);
            else if (!list.empty())
                list.pop_back();
            if (random() % 4 != 0)
                continue;
            const Index list_found = found_by(oldest, lists);
            ASSERT_EQ(turn_of_head(lists, list_found), turn_of_head(lists, oldest_of_all(lists)))
                << count << " lists, step " << step;
            if (list_found)
                lists[list_found].pop_front();
            found += list_found != 0;
        }
        EXPECT_GT(found, 1000);
    }
}
