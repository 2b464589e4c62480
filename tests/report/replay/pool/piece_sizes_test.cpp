// tests/report/replay/pool/piece_sizes_test.cpp — free pieces and requested sizes.
//
// They test what requests can use of the pieces, and how often each size is asked for.
#include "report/replay/pool/piece_sizes.hpp"

#include <gtest/gtest.h>

#include "report/replay/request_sizes.hpp"

namespace vramscope::report {
namespace {

PieceSizes pieces(const std::vector<std::uint64_t>& sizes)
{
    SegmentPieces segment;
    segment.blocks.push_back({.bytes = 1000, .state = BlockState::active_allocated});
    for (const std::uint64_t size : sizes)
        segment.blocks.push_back({.bytes = size, .state = BlockState::inactive});
    segment.blocks.push_back({.bytes = 5000, .state = BlockState::active_pending_free});
    PoolSnapshot snapshot;
    snapshot.segments.push_back(segment);
    return PieceSizes(snapshot);
}

TEST(PieceSizes, OnlyWhatIsFreeCounts)
{
    const PieceSizes free = pieces({10, 30, 10});
    EXPECT_EQ(free.bytes(), 50u);
    EXPECT_EQ(free.pieces(), 3u);
    EXPECT_EQ(free.largest(), 30u);
}

TEST(PieceSizes, UnusableIsWhatWholeRequestsLeaveOver)
{
    const PieceSizes free = pieces({10, 30, 10, 50});
    EXPECT_DOUBLE_EQ(free.unusable_for(1), 0);
    EXPECT_DOUBLE_EQ(free.unusable_for(10), 0);
    EXPECT_DOUBLE_EQ(free.unusable_for(20), 0.4); // 1 of the 30, 2 of the 50
    EXPECT_DOUBLE_EQ(free.unusable_for(51), 1);
    EXPECT_DOUBLE_EQ(pieces({}).unusable_for(1), 1);
}

TEST(PieceSizes, FragmentationIsThatThereAreTooManyPieces)
{
    EXPECT_DOUBLE_EQ(pieces({}).fragmentation_for(10), 0);
    EXPECT_DOUBLE_EQ(pieces({10}).fragmentation_for(10), -1);
    EXPECT_DOUBLE_EQ(pieces({50}).fragmentation_for(100), 0) << "too little, in one piece";
    EXPECT_DOUBLE_EQ(pieces({1, 1}).fragmentation_for(100), 1 - 1.02 / 2);
    EXPECT_NEAR(pieces(std::vector<std::uint64_t>(1000, 9)).fragmentation_for(10), 0.099, 0.001);
}

TEST(RequestSizes, TheMeanWeighsEachRequest)
{
    RequestSizes sizes;
    for (int at = 0; at < 3; ++at)
        sizes.add(1 << 20);
    sizes.add(512);
    EXPECT_EQ(sizes.largest(), 1u << 20);
    EXPECT_DOUBLE_EQ(sizes.mean([](std::uint64_t size) { return static_cast<double>(size); }),
                     (3.0 * (1 << 20) + 512) / 4);
}

TEST(RequestSizes, SizesOfOneCounterAreNearEachOther)
{
    for (std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000}, UINT64_MAX}) {
        RequestSizes sizes;
        sizes.add(size);
        EXPECT_DOUBLE_EQ(sizes.mean([](std::uint64_t one) { return static_cast<double>(one); }),
                         static_cast<double>(size));
    }
    RequestSizes near;
    near.add(1024);
    near.add(1024 + 127);
    near.mean([](std::uint64_t size) {
        EXPECT_EQ(size, 1024u + 63);
        return 0.0;
    });
}

} // namespace
} // namespace vramscope::report
