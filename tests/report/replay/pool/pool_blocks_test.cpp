// tests/report/replay/pool/pool_blocks_test.cpp — few or many blocks by address, as in a map.
#include "report/replay/pool/pool_blocks.hpp"

#include <iterator>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

using Map = std::map<std::uint64_t, PoolBlock>;

using Neighbours = PoolBlocks::Neighbours;

// The neighbours of the block at `address`, which may not exist yet.
Neighbours neighbours_of(const Map& wanted, std::uint64_t address)
{
    Neighbours neighbours;
    const auto at = wanted.lower_bound(address);
    if (at != wanted.begin())
        neighbours.end_before = std::prev(at)->first + std::prev(at)->second.bytes;
    if (const auto behind = wanted.upper_bound(address); behind != wanted.end())
        neighbours.behind = behind->first;
    return neighbours;
}

void expect_same_blocks(PoolBlocks& blocks, const Map& wanted, std::uint64_t address)
{
    const auto at = wanted.lower_bound(address);
    const PoolBlocks::Place place = blocks.place_of(address);
    const PoolBlock* const before = blocks.before(place);
    const PoolBlock* const next = blocks.behind(place);
    ASSERT_EQ(next != nullptr, at != wanted.end());
    if (next) {
        EXPECT_EQ(next->address, at->first);
        EXPECT_EQ(next->bytes, at->second.bytes);
    }
    ASSERT_EQ(before != nullptr, at != wanted.begin());
    if (before) {
        EXPECT_EQ(before->address, std::prev(at)->first);
    }
    EXPECT_EQ(blocks.find(place, address) != nullptr, wanted.contains(address));
    const bool there = wanted.contains(address);
    EXPECT_EQ(there ? blocks.around_block(place) : blocks.around(place),
              neighbours_of(wanted, address));
}

TEST(PoolBlocks, AreAsAMapWouldHaveThem)
{
    std::mt19937_64 random(1);
    PoolBlocks blocks;
    Map wanted;
    for (const std::size_t most : {std::size_t{8}, 32 * PoolBlocks::kMostInRun, std::size_t{3}}) {
        for (int step = 0; step < 20'000; ++step) {
            const std::uint64_t address = random() % (4 * most);
            expect_same_blocks(blocks, wanted, address);
            if (wanted.contains(address)) {
                blocks.erase(blocks.place_of(address));
                wanted.erase(address);
            } else if (wanted.size() < most) {
                const PoolBlock block{.address = address, .bytes = random()};
                blocks.insert(blocks.place_of(address), block);
                wanted.emplace(address, block);
            } else {
                const std::uint64_t first = wanted.begin()->first;
                blocks.erase(blocks.place_of(first));
                wanted.erase(first);
            }
            ASSERT_EQ(blocks.size(), wanted.size());
        }
        auto at = wanted.begin();
        blocks.for_each([&](const PoolBlock& block) { EXPECT_EQ(block.address, at++->first); });
        EXPECT_EQ(at, wanted.end());
    }
}

TEST(PoolBlocks, ABlockIsChangedInPlace)
{
    PoolBlocks blocks;
    blocks.insert(blocks.place_of(16), {.address = 16});
    blocks.find(blocks.place_of(16), 16)->freed = 7;
    EXPECT_TRUE(blocks.behind(blocks.place_of(0))->pending());
}

} // namespace
} // namespace vramscope::report
