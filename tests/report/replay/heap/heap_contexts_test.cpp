// tests/report/replay/heap/heap_contexts_test.cpp — blocks die with their context, or outlive it.
#include <gtest/gtest.h>

#include "tests/report/replay/heap/heap_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::operator""_MiB;

TEST(HeapContexts, ContextTakesItsOwnKindsOfMemoryWithIt)
{
    LogBuilder log;
    log.place({.context = 3, .device = 0});
    log.alloc(0x1000, 1, 1)
        .alloc(0x2000, 1, 2, "cuMemAllocManaged")
        .alloc(0x3000, 1, 3, "cuMemHostAlloc");
    log.alloc(0x4000, 1, 4, "cuArrayCreate_v2").alloc(0x5000, 1, 5, "cuMipmappedArrayCreate");
    log.alloc(0x6000, 1, 6, "cuMemAllocPitch_v2").alloc(0x7000, 1, 7, "cuMemAllocAsync");
    log.alloc(0x8000, 1, 8, "cuMemCreate").alloc(0x9000, 1, 9, "cuMemHostRegister_v2");
    log.alloc(0xa000, 1, 10, "cuMemAddressReserve").context_gone(3);
    const Replayed result = replay(log);
    for (const LostBlocks& blocks : result.lost)
        EXPECT_EQ(blocks.fate, blocks.stack <= 6 ? Fate::context_gone : Fate::kept) << blocks.stack;
    EXPECT_EQ(result.lost.size(), 10u);
}

TEST(HeapContexts, MemoryRegisteredAgainWentWithItsContext)
{
    LogBuilder log;
    log.place({.context = 3}).alloc(0x1000, 8, 1, "cuMemHostRegister_v2").context_gone(3);
    log.place({.context = 4}).alloc(0x1000, 4, 2, "cuMemHostRegister_v2");
    log.alloc(0x1000, 2, 3, "cuMemHostRegister_v2");
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 2u);
    EXPECT_EQ(result.lost[0].fate, Fate::context_gone);
    EXPECT_EQ(result.lost[1].stack, 3u);
    EXPECT_EQ(result.counts.missed_frees, 1u) << "context 4 was there";
}

TEST(HeapContexts, AMappingWhoseAddressCameAgainWentWithItsContext)
{
    LogBuilder log;
    log.place({.context = 3}).alloc(0x1000, 8, 1, "cuExternalMemoryGetMappedBuffer");
    log.context_gone(3).place({.context = 4}).alloc(0x1000, 4, 2, "cuMemAllocManaged");
    EXPECT_EQ(replay(log).counts.missed_frees, 0u);
}

TEST(HeapContexts, OtherContextsKeepTheirBlocks)
{
    LogBuilder log;
    log.place({.context = 1}).alloc(0x1000, 1, 1).place({.context = 2}).alloc(0x2000, 1, 2);
    log.place({}).alloc(0x3000, 1, 3).context_gone(1).context_gone(0);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 3u);
    EXPECT_EQ(result.lost[0].fate, Fate::context_gone);
    EXPECT_EQ(result.lost[1].fate, Fate::kept);
    EXPECT_EQ(result.lost[2].fate, Fate::kept) << "its context is not known";
}

TEST(HeapContexts, ContextThatIsUsedAgainHasANewLife)
{
    LogBuilder log;
    log.place({.context = 1})
        .alloc(0x1000, 8, 1)
        .context_gone(1)
        .alloc(0x2000, 4, 2)
        .alloc(0x1000, 2, 3);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 3u);
    EXPECT_EQ(result.lost[0].fate, Fate::context_gone);
    EXPECT_EQ(result.lost[1].fate, Fate::kept);
    EXPECT_EQ(result.lost[2].fate, Fate::kept);
    EXPECT_EQ(result.counts.missed_frees, 0u) << "the address was free: its context was gone";
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 8u)
        << "what died with the context is not alive";
}

TEST(HeapContexts, ContextThatIsDestroyedByTheExitIsTold)
{
    LogBuilder log;
    log.place({.context = 1}).at(100).alloc(0x1000, 1, 1).place({.context = 2}).alloc(0x2000, 1, 2);
    log.at(5000).context_gone(1).at(7000).context_gone(2);
    log.header().exit_began_ticks = 6000;
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 2u);
    EXPECT_EQ(result.lost[0].fate, Fate::context_gone);
    EXPECT_EQ(result.lost[1].fate, Fate::context_gone_at_exit);
}

TEST(HeapContexts, BlocksOfManyDeadContextsAreAllSummedUp)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    for (std::uint64_t context = 1; context <= 100; ++context) {
        log.place({.context = context});
        for (int block = 0; block < 200; ++block)
            log.alloc(address += 0x1000, 1, context);
        log.context_gone(context);
    }
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 100u);
    for (const LostBlocks& blocks : result.lost) {
        EXPECT_EQ(blocks.blocks, 200u);
        EXPECT_EQ(blocks.fate, Fate::context_gone);
    }
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 200u);
}

TEST(HeapContexts, TheEndOfAContextIsTheEndOfItsHandle)
{
    LogBuilder log;
    log.context(1).alloc(0xc1, 0, 1, "cuCtxCreate_v2").context(2);
    log.alloc(0xc2, 0, 2, "cuCtxCreate_v2").context_gone(1);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.allocations, 0u);
}

TEST(HeapContexts, AMappingThatWasOpenedTwiceGoesWithItsContextAtOnce)
{
    LogBuilder log;
    log.place({.context = 1}).alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2").context_gone(1);
    log.alloc(0x1000, 2_MiB, 2, "cuIpcOpenMemHandle_v2").free(0x1000, "cuIpcCloseMemHandle");
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].fate, Fate::context_gone);
    EXPECT_EQ(result.lost[0].blocks, 1u);
}

} // namespace
} // namespace vramscope::report
