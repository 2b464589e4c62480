// tests/report/replay/lookup/slab_test.cpp — values by number, and the pages that they lie in.
#include "report/replay/lookup/slab.hpp"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(Slab, GivesTheNumberThatCameBackLastFirst)
{
    Slab<int> slab;
    const std::size_t first = slab.add(10);
    const std::size_t second = slab.add(20);
    slab.remove(first);
    slab.remove(second);
    EXPECT_EQ(slab.add(30), second);
    EXPECT_EQ(slab.add(40), first);
    EXPECT_EQ(slab[second], 30);
    EXPECT_EQ(slab[first], 40);
}

// 100,000 of them lie in large pages, and came there from small ones.
TEST(Slab, KeepsWhatWasNotRemoved)
{
    Slab<std::uint64_t> slab;
    std::map<std::size_t, std::uint64_t> expected;
    std::mt19937_64 random(1);
    for (std::uint64_t value = 0; value < 200'000; ++value) {
        const std::size_t number = slab.add(value);
        ASSERT_TRUE(expected.emplace(number, value).second) << "it is somebody's still";
        if (random() % 2 == 0)
            continue;
        const auto gone = expected.lower_bound(random() % expected.size());
        slab.remove(gone->first);
        expected.erase(gone);
    }
    for (const auto& [number, value] : expected)
        ASSERT_EQ(slab[number], value);
}

struct alignas(64) Line {
    std::uint64_t value = 0;
};

TEST(LargeVector, AlignsItsElementsWhereverTheyLie)
{
    for (const std::size_t size : {1u, 100u, 100'000u}) {
        const LargeVector<Line> lines(size);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lines.data()) % alignof(Line), 0u) << size;
    }
}

} // namespace
} // namespace vramscope::report
