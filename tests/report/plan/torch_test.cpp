// tests/report/plan/torch_test.cpp — PyTorch's rules, each on a trace that was worked out by hand.
#include <gtest/gtest.h>

#include "report/error.hpp"
#include "tests/report/plan/requests.hpp"

namespace vramscope::test {
namespace {

constexpr BlockId kNone = TorchSteps::kNone;

TEST(Torch, RoundsBlocksTo512BytesAndSmallSegmentsTo2MiB)
{
    TorchSteps steps;
    const BlockId first = steps.allocate(1);
    const BlockId second = steps.allocate(513);
    EXPECT_EQ(steps.policy.allocated(), 512u + 1024u);
    EXPECT_EQ(steps.device.reserved(), 2_MiB);
    EXPECT_EQ(steps.address(second), steps.address(first) + 512);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, TakesSegmentsBySize)
{
    TorchSteps steps;
    steps.allocate(1_MiB); // the largest small one
    EXPECT_EQ(steps.device.reserved(), 2_MiB);
    steps.allocate(1_MiB + 1); // 20 MiB, of which the rest is cut off
    EXPECT_EQ(steps.device.reserved(), 22_MiB);
    steps.allocate(10_MiB); // out of that rest
    EXPECT_EQ(steps.device.reserved(), 22_MiB);
    steps.allocate(10_MiB); // from 10 MiB on a segment of its own
    EXPECT_EQ(steps.device.reserved(), 32_MiB);
    steps.allocate(10_MiB + 1); // in steps of 2 MiB
    EXPECT_EQ(steps.device.reserved(), 44_MiB);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, TakesLargeSegmentsOfASizeThatIsSet)
{
    TorchSteps steps("large_segment_size_mb:12");
    steps.allocate(2_MiB);
    EXPECT_EQ(steps.device.reserved(), 12_MiB);
    steps.allocate(10_MiB); // in the 10 MiB that are left
    EXPECT_EQ(steps.device.reserved(), 12_MiB);
    steps.allocate(10_MiB); // a segment of its own size
    EXPECT_EQ(steps.device.reserved(), 22_MiB);
    EXPECT_EQ(steps.wrong, "");
    TorchSteps expandable("expandable_segments:True,large_segment_size_mb:12", 200_MiB);
    expandable.allocate(30_MiB);
    EXPECT_EQ(expandable.device.reserved(), 36_MiB);
}

TEST(Torch, ARestOf1MiBIsNotCutOff)
{
    TorchSteps steps;
    steps.allocate(11_MiB); // a segment of 12 MiB: 1 MiB is left, and that is not more than 1 MiB
    EXPECT_EQ(steps.policy.allocated(), 12_MiB);
    steps.allocate(11_MiB - 512);
    EXPECT_EQ(steps.policy.allocated(), 12_MiB + 11_MiB - 512);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, TakesTheBestFitAndTheLowestAddressOfEquals)
{
    TorchSteps steps;
    const BlockId large = steps.allocate(40_MiB);
    const BlockId low = steps.allocate(30_MiB);
    const BlockId high = steps.allocate(30_MiB);
    const std::uint64_t wanted = steps.address(low);
    steps.free(high);
    steps.free(large);
    steps.free(low);
    EXPECT_EQ(steps.address(steps.allocate(30_MiB)), wanted);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, StreamsDoNotShare)
{
    TorchSteps steps;
    steps.free(steps.allocate(30_MiB, 1));
    steps.allocate(30_MiB, 2);
    EXPECT_EQ(steps.device.reserved(), 60_MiB);
    steps.allocate(30_MiB, 1);
    EXPECT_EQ(steps.device.reserved(), 60_MiB);
}

TEST(Torch, JoinsFreeNeighbours)
{
    TorchSteps steps;
    std::vector<BlockId> blocks;
    for (int each = 0; each < 5; ++each)
        blocks.push_back(steps.allocate(4_MiB)); // five in a segment of 20 MiB
    for (const std::size_t each : {1u, 3u, 2u})
        steps.free(blocks[each]);
    EXPECT_EQ(steps.policy.largest_free(), 12_MiB);
    EXPECT_EQ(steps.address(steps.allocate(9_MiB)), steps.address(blocks[0]) + 4_MiB);
    EXPECT_EQ(steps.device.reserved(), 20_MiB);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, FlushesWhatNoBlockLivesInAndAsksAgain)
{
    TorchSteps steps("", 60_MiB);
    const BlockId kept = steps.allocate(5_MiB); // holds its segment of 20 MiB
    steps.free(steps.allocate(20_MiB));
    EXPECT_NE(steps.allocate(40_MiB), kNone); // that needs what the second had
    EXPECT_EQ(steps.policy.retries(), 1u);
    EXPECT_EQ(steps.device.reserved(), 60_MiB);
    EXPECT_EQ(steps.allocate(30_MiB), kNone);
    EXPECT_EQ(steps.policy.retries(), 2u);
    steps.free(kept);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, WhatAnotherStreamUsesIsFreeAtItsReadyOrAtAFlush)
{
    TorchSteps steps("", 40_MiB);
    const BlockId used = steps.allocate(20_MiB);
    steps.free_later(used);
    EXPECT_EQ(steps.policy.allocated(), 0u);
    steps.allocate(20_MiB);
    EXPECT_EQ(steps.device.reserved(), 40_MiB);
    EXPECT_NE(steps.allocate(20_MiB), kNone); // the flush waits for it and gives its segment back
    EXPECT_EQ(steps.policy.retries(), 1u);
    steps.ready(used); // long done
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, OversizeBlocksAreNotCutAndServeNothingSmaller)
{
    TorchSteps steps("max_split_size_mb:30");
    steps.free(steps.allocate(50_MiB));
    steps.allocate(20_MiB); // less than max_split_size: not out of the 50
    EXPECT_EQ(steps.device.reserved(), 70_MiB);
    steps.allocate(30_MiB); // 20 MiB less than 50: that is too much waste
    EXPECT_EQ(steps.device.reserved(), 100_MiB);
    steps.allocate(30_MiB + 512); // a little less waste
    EXPECT_EQ(steps.device.reserved(), 100_MiB);
    EXPECT_EQ(steps.policy.allocated(), 20_MiB + 30_MiB + 50_MiB);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, UnderPressureOversizeBlocksGoBackFirst)
{
    TorchSteps steps("max_split_size_mb:30", 100_MiB);
    const BlockId large = steps.allocate(40_MiB);
    const BlockId other = steps.allocate(32_MiB);
    steps.free(steps.allocate(2_MiB)); // a segment of 20 MiB, which a flush would give back
    steps.free(large);
    steps.free(other);
    steps.allocate(60_MiB); // 40 and 32 MiB are released until 60 are together
    EXPECT_EQ(steps.device.reserved(), 80_MiB);
    EXPECT_EQ(steps.policy.retries(), 0u);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, RoundsUpByDivisionsOfAPowerOfTwo)
{
    TorchSteps steps("roundup_power2_divisions:4");
    steps.allocate(65_MiB); // 64 to 128 MiB in steps of 16
    EXPECT_EQ(steps.policy.allocated(), 80_MiB);
    steps.allocate(1200); // 512 * 4 bytes and less are not rounded so
    EXPECT_EQ(steps.policy.allocated(), 80_MiB + 1536);
}

TEST(Torch, DivisionsByAList)
{
    // As PyTorch 2.6 reads it: the last division before ">" is overwritten by the one after it.
    const auto options = parse_torch_options("roundup_power2_divisions:[4:1,8:2,16:4,>:8]");
    const auto& divisions = options.pool.roundup_power2_divisions;
    EXPECT_EQ(divisions[0], 1); // 1 MiB
    EXPECT_EQ(divisions[2], 1); // 4 MiB
    EXPECT_EQ(divisions[3], 2);
    EXPECT_EQ(divisions[4], 8);
    EXPECT_EQ(divisions[15], 8);
}

TEST(Torch, CollectsWhatIsOldBeforeItTakesMore)
{
    TorchSteps steps("garbage_collection_threshold:0.5,per_process_memory_fraction:1", 200_MiB);
    const BlockId other = steps.allocate(20_MiB, 1);
    const BlockId old = steps.allocate(60_MiB);
    const BlockId young = steps.allocate(50_MiB);
    steps.free(other);
    steps.free(old);
    for (int each = 0; each < 4; ++each)
        steps.free(steps.allocate(20_MiB, 1)); // each search makes what stays free older
    steps.free(young);
    // 130 MiB are more than half of 200. With the search for 70 MiB the ages are 5 (60 MiB), 1 and
    // 1, and their mean is 2.3.
    steps.allocate(70_MiB);
    EXPECT_EQ(steps.device.reserved(), 20_MiB + 50_MiB + 70_MiB);
    EXPECT_EQ(steps.policy.retries(), 0u);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, AThresholdWithoutAFractionDoesNothing)
{
    TorchSteps steps("garbage_collection_threshold:0.1", 200_MiB);
    steps.free(steps.allocate(60_MiB));
    steps.allocate(70_MiB);
    EXPECT_EQ(steps.device.reserved(), 130_MiB);
}

TEST(Torch, AFractionIsALimit)
{
    TorchSteps steps("per_process_memory_fraction:0.5", 100_MiB);
    EXPECT_NE(steps.allocate(50_MiB), kNone);
    EXPECT_EQ(steps.allocate(2_MiB), kNone);
}

TEST(Torch, ExpandableSegmentsGrowByPages)
{
    TorchSteps steps("expandable_segments:True", 200_MiB);
    const BlockId first = steps.allocate(30_MiB); // two pages of 20 MiB
    EXPECT_EQ(steps.device.reserved(), 40_MiB);
    EXPECT_EQ(steps.policy.allocated(), 30_MiB);
    const BlockId second = steps.allocate(25_MiB); // the 10 MiB after it, and one page more
    EXPECT_EQ(steps.device.reserved(), 60_MiB);
    const std::uint64_t begin = steps.address(first);
    EXPECT_EQ(steps.address(second), begin + 30_MiB);
    steps.free(first);
    EXPECT_EQ(steps.address(steps.allocate(30_MiB)), begin);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, ExpandableSegmentsGiveWholePagesBack)
{
    TorchSteps steps("expandable_segments:True", 200_MiB);
    const BlockId first = steps.allocate(50_MiB);
    steps.allocate(5_MiB); // after it, on the third page
    steps.free(first);
    steps.empty_cache();
    EXPECT_EQ(steps.device.reserved(), 20_MiB); // that the second is on
    steps.allocate(30_MiB);                     // at the beginning again, on pages of its own
    EXPECT_EQ(steps.device.reserved(), 60_MiB);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, PrivatePoolsAreTheirOwnAndAreNotFlushed)
{
    TorchSteps steps("", 60_MiB);
    steps.free(steps.allocate(20_MiB, 0, 1));
    steps.free(steps.allocate(20_MiB));
    EXPECT_EQ(steps.device.reserved(), 40_MiB);
    steps.empty_cache();
    EXPECT_EQ(steps.device.reserved(), 20_MiB);
    EXPECT_NE(steps.allocate(40_MiB), kNone);
    EXPECT_EQ(steps.allocate(30_MiB, 0, 1), kNone); // what is in the way cannot be flushed now
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, TakesOverWhatWasThere)
{
    TorchSteps steps;
    ASSERT_TRUE(steps.policy.start({{.address = 0x100000000,
                                     .bytes = 20_MiB,
                                     .blocks = {{.block = 0, .offset = 4_MiB, .bytes = 6_MiB},
                                                {.block = 1, .offset = 10_MiB, .bytes = 8_MiB}}}}));
    EXPECT_EQ(steps.policy.validate(), nullptr);
    EXPECT_EQ(steps.policy.allocated(), 14_MiB);
    EXPECT_EQ(steps.device.reserved(), 20_MiB);
    EXPECT_EQ(steps.device.calls(), 0u);
    steps.free(0);
    EXPECT_EQ(steps.policy.largest_free(), 10_MiB);
    EXPECT_EQ(steps.address(steps.allocate(10_MiB)), 0x100000000u);
    EXPECT_EQ(steps.wrong, "");
}

TEST(Torch, KnobsThatAreWrongGetOneLine)
{
    const auto words = [](const char* name) {
        try {
            policy_of(name);
        } catch (const report::Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing is wrong");
    };
    EXPECT_EQ(words("torch:max_split_size_mb:5"), "max_split_size_mb takes 20 or more, not '5'");
    EXPECT_EQ(words("torch:max_split_size_mb=128,backend:native"), "nothing is wrong");
    EXPECT_EQ(words("torch:max_split_size_mb:12,large_segment_size_mb:12"), "nothing is wrong");
    EXPECT_EQ(words("torch:max_split_size_mb:30,large_segment_size_mb:40"),
              "max_split_size_mb takes 40 or more, not '30'");
    EXPECT_EQ(words("torch:large_segment_size_mb:10"),
              "large_segment_size_mb takes more than 10, not '10'");
    EXPECT_EQ(words("torch:max_split_size_mb"),
              "a knob is KEY:VALUE, and 'max_split_size_mb' is not");
    EXPECT_EQ(words("torch:expandable_segments:yes"),
              "expandable_segments takes True or False, not 'yes'");
    EXPECT_EQ(words("torch:roundup_power2_divisions:3"),
              "roundup_power2_divisions takes 0 or a power of two up to 128, not '3'");
    EXPECT_EQ(words("torch:roundup_power2_divisions:[3:1]"),
              "roundup_power2_divisions takes powers of two before the colons of its list, not "
              "'[3:1]'");
    EXPECT_EQ(words("torch:no_such:1"), "this policy has no knob 'no_such'");
    EXPECT_EQ(words("none:no_such:1"), "this policy has no knob 'no_such'");
    EXPECT_EQ(words("tork").substr(0, 46), "no policy is called 'tork': there are torch, c");
}

} // namespace
} // namespace vramscope::test
