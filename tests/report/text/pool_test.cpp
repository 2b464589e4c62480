// tests/report/text/pool_test.cpp — the pool in words and in cells.
#include "report/model/memory/pool.hpp"

#include <gtest/gtest.h>

#include "report/text/sections.hpp"

namespace vramscope::report {
namespace {

BlockPiece piece(std::uint64_t bytes, BlockState state)
{
    return {.address = 0, .bytes = bytes, .requested = bytes, .state = state};
}

PoolMap map_of(std::vector<std::vector<BlockPiece>> segments)
{
    PoolMap map;
    for (std::vector<BlockPiece>& blocks : segments) {
        SegmentPieces segment;
        for (const BlockPiece& block : blocks)
            segment.bytes += block.bytes;
        segment.blocks = std::move(blocks);
        map.segments.push_back(std::move(segment));
    }
    return map;
}

constexpr auto kLive = BlockState::active_allocated;
constexpr auto kWaits = BlockState::active_pending_free;
constexpr auto kFree = BlockState::inactive;

TEST(PoolText, ACellShowsWhatIsInMostOfItsBytes)
{
    const PoolMap map = map_of({{piece(200, kLive), piece(50, kFree), piece(50, kLive)},
                                {piece(200, kWaits), piece(100, kFree)}});
    EXPECT_EQ(segment_cells(map.segments, 6), "##+~~.");
    EXPECT_EQ(segment_cells(map.segments, 12), "####.#~~~~..");
    EXPECT_EQ(segment_cells(map.segments, 1), "+");
}

TEST(PoolText, CellsHoldForAnyNumberOfBytes)
{
    EXPECT_EQ(segment_cells({}, 10), "");
    EXPECT_EQ(segment_cells(map_of({{piece(1, kLive)}}).segments, 4), "####");
    EXPECT_EQ(
        segment_cells(map_of({{piece(UINT64_MAX / 2, kFree)}, {piece(1, kLive)}}).segments, 4),
        "....");
}

TEST(PoolText, SaysHowThePoolWasSetAsFarAsTheLogDoes)
{
    PoolReport pool;
    EXPECT_EQ(pool_line(pool), "");
    pool.mode = "off";
    EXPECT_EQ(pool_line(pool), "off; what the driver reserves beyond blocks is not known");
    pool.mode = "split";
    pool.settings = {{"sync", "lazy"}, {"limit", "8GiB\x1b"}};
    EXPECT_EQ(pool_line(pool), "split, sync lazy, limit 8GiB\\x1b; nothing was taken through it");
    pool.known = true;
    EXPECT_EQ(pool_line(pool), "split, sync lazy, limit 8GiB\\x1b");
    pool.mode.clear();
    pool.settings.clear();
    EXPECT_EQ(pool_line(pool), "how it was set is not known");
}

} // namespace
} // namespace vramscope::report
