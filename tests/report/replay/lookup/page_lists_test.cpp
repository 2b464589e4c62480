// tests/report/replay/lookup/page_lists_test.cpp — beside a set that keeps the order.
#include "report/replay/lookup/page_lists.hpp"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

using vramscope::report::PageLists;

namespace {

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

std::set<std::size_t> numbers_near(PageLists& lists, std::uint64_t begin, std::uint64_t bytes)
{
    std::set<std::size_t> found;
    lists.for_each_near(begin, bytes,
                        [&](std::size_t number) { EXPECT_TRUE(found.insert(number).second); });
    return found;
}

} // namespace

TEST(PageLists, FindWhatIsInTheRangesPagesWhateverCameAndWent)
{
    std::mt19937_64 random(1);
    PageLists lists;
    std::map<std::size_t, std::uint64_t> known; // address of each number
    for (int step = 0; step < 20000; ++step) {
        const std::size_t number = random() % 200;
        if (const auto found = known.find(number); found != known.end()) {
            lists.remove(number, found->second);
            known.erase(found);
        } else {
            known[number] = 0x7f0000000000 + random() % (20 * kPage);
            lists.add(number, known[number]);
        }
        const std::uint64_t begin = 0x7f0000000000 + random() % (20 * kPage);
        const std::uint64_t bytes = 1 + random() % (random() % 2 ? kPage : 30 * kPage);
        std::set<std::size_t> expected;
        for (const auto& [of, address] : known) {
            if (address / kPage >= begin / kPage && address / kPage <= (begin + bytes - 1) / kPage)
                expected.insert(of);
        }
        ASSERT_EQ(numbers_near(lists, begin, bytes), expected);
    }
}

TEST(PageLists, TakeRangesUpToTheEndOfAllAddresses)
{
    PageLists lists;
    lists.add(0, UINT64_MAX);
    lists.add(1, 0);
    EXPECT_EQ(numbers_near(lists, UINT64_MAX, UINT64_MAX), std::set<std::size_t>{0});
    EXPECT_EQ(numbers_near(lists, 0, UINT64_MAX), (std::set<std::size_t>{0, 1}));
    EXPECT_TRUE(numbers_near(lists, 0, 0).empty());
}
