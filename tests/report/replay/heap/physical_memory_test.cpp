// tests/report/replay/heap/physical_memory_test.cpp — cuMemCreate: references and mappings.
#include "report/replay/heap/physical_memory.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

struct Fixture : testing::Test {
    PhysicalMemory<int> memory;
    std::vector<int> dead;

    auto died()
    {
        return [this](int block) { dead.push_back(block); };
    }
};

using PhysicalMemoryTest = Fixture;
using Blocks = std::vector<int>;

TEST_F(PhysicalMemoryTest, DiesWithTheLastReference)
{
    memory.create(7, 1);
    EXPECT_TRUE(memory.retain(7));
    EXPECT_TRUE(memory.release(7, died()));
    EXPECT_EQ(dead, Blocks{});
    EXPECT_TRUE(memory.release(7, died()));
    EXPECT_EQ(dead, Blocks{1});
    EXPECT_FALSE(memory.release(7, died()));
}

TEST_F(PhysicalMemoryTest, LivesOnInItsMappings)
{
    memory.create(7, 1);
    memory.map(0x1000, 0x1000, 7, died());
    memory.release(7, died());
    EXPECT_EQ(dead, Blocks{});
    EXPECT_TRUE(memory.unmap(0x1000, 0x1000, died()));
    EXPECT_EQ(dead, Blocks{1});
}

TEST_F(PhysicalMemoryTest, AMappingGivesItsHandleBack)
{
    memory.create(7, 1);
    memory.map(0x1000, 0x1000, 7, died());
    EXPECT_TRUE(memory.release(7, died()));
    EXPECT_TRUE(memory.retain(7));
    memory.unmap(0x1000, 0x1000, died());
    EXPECT_EQ(dead, Blocks{});
    EXPECT_TRUE(memory.release(7, died()));
    EXPECT_EQ(dead, Blocks{1});
    EXPECT_FALSE(memory.retain(7));
}

TEST_F(PhysicalMemoryTest, OneUnmapEndsEveryMappingInItsRange)
{
    memory.create(1, 10);
    memory.create(2, 20);
    memory.create(3, 30);
    memory.map(0x1000, 0x1000, 1, died());
    memory.map(0x2000, 0x1000, 2, died());
    memory.map(0x3000, 0x1000, 3, died());
    for (const std::uint64_t handle : {1, 2, 3})
        memory.release(handle, died());
    memory.unmap(0x1000, 0x2000, died());
    EXPECT_EQ(dead, (Blocks{10, 20}));
}

TEST_F(PhysicalMemoryTest, ANumberMayBeGivenOutAgainWhileTheOldBlockIsMapped)
{
    memory.create(7, 1);
    memory.map(0x1000, 0x1000, 7, died());
    memory.release(7, died());
    EXPECT_FALSE(memory.knows(7));
    memory.create(7, 2);
    memory.release(7, died());
    EXPECT_EQ(dead, Blocks{2});
    memory.unmap(0x1000, 0x1000, died());
    EXPECT_EQ(dead, (Blocks{2, 1}));
}

TEST_F(PhysicalMemoryTest, UnknownHandlesAndRangesAreRefused)
{
    EXPECT_FALSE(memory.retain(1));
    EXPECT_FALSE(memory.map(0, 1, 1, died()));
    EXPECT_FALSE(memory.unmap(0, UINT64_MAX, died()));
}

TEST_F(PhysicalMemoryTest, FindsWhatIsMappedAtAnAddress)
{
    memory.create(7, 1);
    memory.map(0x1000, 0x1000, 7, died());
    EXPECT_EQ(memory.find_mapped(0x1fff), memory.find(7));
    EXPECT_EQ(memory.find_mapped(0x2000), nullptr);
    EXPECT_EQ(memory.find_mapped(0xfff), nullptr);
    EXPECT_EQ(memory.find(8), nullptr);
}

TEST_F(PhysicalMemoryTest, TellsWhetherTheNextReleaseIsTheLast)
{
    memory.create(7, 1);
    EXPECT_TRUE(memory.hangs_on_one_release(7));
    memory.retain(7);
    EXPECT_FALSE(memory.hangs_on_one_release(7));
    memory.release(7, died());
    memory.map(0x1000, 0x1000, 7, died());
    EXPECT_FALSE(memory.hangs_on_one_release(7));
    EXPECT_FALSE(memory.hangs_on_one_release(8));
}

TEST_F(PhysicalMemoryTest, MappingOverAMappingEndsTheOldOne)
{
    memory.create(1, 10);
    memory.create(2, 20);
    memory.map(0x1000, 0x1000, 1, died());
    memory.release(1, died());
    memory.map(0x1000, 0x1000, 2, died());
    EXPECT_EQ(dead, Blocks{10});
}

} // namespace
} // namespace vramscope::report
