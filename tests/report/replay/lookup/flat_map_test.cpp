// tests/report/replay/lookup/flat_map_test.cpp — the table of live blocks against std::map.
#include "report/replay/lookup/flat_map.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(FlatMap, FindsWhatWasInsertedAndNothingElse)
{
    FlatMap<int> map;
    EXPECT_EQ(map.find(7), nullptr);
    map.insert(7, 70);
    ASSERT_NE(map.find(7), nullptr);
    EXPECT_EQ(map.find(7)->value, 70);
    EXPECT_EQ(map.find(8), nullptr);
    EXPECT_EQ(map.size(), 1u);
}

TEST(FlatMap, AgreesWithStdMapOverRandomInsertionsAndRemovals)
{
    FlatMap<std::uint64_t> map;
    std::map<std::uint64_t, std::uint64_t> expected;
    std::mt19937_64 random(1);
    for (int step = 0; step < 200'000; ++step) {
        const std::uint64_t key = random() % 5000 * 256;
        if (auto* const found = map.find(key)) {
            ASSERT_EQ(found->value, expected.at(key));
            map.erase(found);
            expected.erase(key);
        } else {
            ASSERT_EQ(expected.count(key), 0u);
            const auto [entry, added] = map.find_or_insert(key);
            ASSERT_TRUE(added);
            entry->value = static_cast<std::uint64_t>(step);
            ASSERT_FALSE(map.find_or_insert(key).added);
            expected[key] = static_cast<std::uint64_t>(step);
        }
    }
    std::map<std::uint64_t, std::uint64_t> left;
    map.for_each([&](const auto& entry) { left[entry.key] = entry.value; });
    EXPECT_EQ(left, expected);
    EXPECT_EQ(map.size(), expected.size());
}

TEST(FlatMap, EraseIfKeepsTheOthersReachable)
{
    FlatMap<int> map;
    for (int key = 0; key < 10'000; ++key)
        map.insert(static_cast<std::uint64_t>(key), key);
    map.erase_if([](const auto& entry) { return entry.value % 3 != 0; });
    EXPECT_EQ(map.size(), 3334u);
    for (int key = 0; key < 10'000; ++key)
        EXPECT_EQ(map.find(static_cast<std::uint64_t>(key)) != nullptr, key % 3 == 0) << key;
}

} // namespace
} // namespace vramscope::report
