// tests/report/replay/heap/heap_kinds_test.cpp — memory that is not simply allocated and freed.
#include <string>

#include <gtest/gtest.h>

#include "tests/report/replay/heap/heap_scene.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::operator""_MiB;

TEST(HeapKinds, PhysicalMemoryIsBackOnlyWhenReleasedAndUnmapped)
{
    LogBuilder log;
    log.alloc(0x8000, 4_MiB, 0, "cuMemAddressReserve");
    log.alloc(1, 2_MiB, 1, "cuMemCreate").map(0x8000, 2_MiB, 1).free(1, "cuMemRelease");
    EXPECT_EQ(replay(log).lost_bytes(), 4_MiB + 2_MiB);
    log.unmap(0x8000, 2_MiB).free(0x8000, "cuMemAddressFree");
    const Replayed result = replay(log);
    EXPECT_TRUE(result.lost.empty());
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 2_MiB) << "addresses are no memory";
    EXPECT_EQ(result.counts.memory.allocations, 1u);
}

TEST(HeapKinds, RetainedHandleNeedsAsManyReleases)
{
    LogBuilder log;
    log.alloc(1, 2_MiB, 1, "cuMemCreate").retain(1).free(1, "cuMemRelease");
    EXPECT_EQ(replay(log).lost_bytes(), 2_MiB);
    EXPECT_EQ(replay(log.free(1, "cuMemRelease")).lost_bytes(), 0u);
}

TEST(HeapKinds, ImportedPhysicalMemoryHasTheSizeOfItsMapping)
{
    LogBuilder log;
    log.alloc(5, 0, 1, "cuMemImportFromShareableHandle").map(std::uint64_t{1} << 63, 1, 5);
    EXPECT_EQ(replay(log).lost_bytes(), 0u) << "a tile has no size";
    log.unmap(std::uint64_t{1} << 63, 1).map(0x8000, 2_MiB, 5);
    EXPECT_EQ(replay(log).lost_bytes(), 2_MiB);
    log.free(5, "cuMemRelease").unmap(0x8000, 2_MiB);
    EXPECT_TRUE(replay(log).lost.empty());
    EXPECT_EQ(replay(log).counts.memory.frees, 0u);
}

// As a driver of 580 gives it out (tests/gpu/RESULTS.md, "imports").
TEST(HeapKinds, APointerThatIsImportedAgainIsOneAndOneFreeEndsIt)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1, "cuMemPoolImportPointer");
    log.alloc(0x1000, 1_MiB, 2, "cuMemPoolImportPointer");
    EXPECT_EQ(replay(log).lost_bytes(), 1_MiB);
    log.free(0x1000, "cuMemFree_v2");
    const Replayed result = replay(log);
    EXPECT_TRUE(result.lost.empty());
    EXPECT_EQ(result.counts.missed_frees, 0u);
    EXPECT_EQ(replay(log.free(0x1000, "cuMemFree_v2")).counts.unmatched_frees, 1u);
}

TEST(HeapKinds, GraphMemoryIsNeitherLostNorCounted)
{
    LogBuilder log;
    log.place({.stream = 5, .capturing = true}).alloc(0x1000, 1_MiB, 1, "cuMemAllocAsync");
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u) << "it is listed";
    EXPECT_EQ(result.lost[0].memory, Memory::graph);
    EXPECT_EQ(result.counts.graph_allocations, 1u);
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 0u);
    EXPECT_EQ(replay(log.free(0x1000)).counts.unmatched_frees, 0u);
}

TEST(HeapKinds, GraphMemoryMayBeFreedAgainAfterEachLaunch)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1, "cuGraphAddMemAllocNode");
    log.free(0x1000).free(0x1000, "cuMemFreeAsync").alloc(0x1000, 1_MiB).free(0x1000);
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.unmatched_frees, 0u);
    EXPECT_EQ(result.counts.missed_frees, 0u) << "the graph was destroyed: its address is free";
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 1_MiB);
}

struct NoMemory {
    const char* what;
    const char* allocates;
    const char* frees;
};
class HeapKindsWithoutMemory : public testing::TestWithParam<NoMemory> {};

TEST_P(HeapKindsWithoutMemory, DoesNotSumItUp)
{
    LogBuilder log;
    log.alloc(0x1000, 2_MiB, 1, GetParam().allocates).alloc(0x2000, 4_MiB, 1, GetParam().allocates);
    log.free(0x1000, GetParam().frees);
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.memory.allocations, 0u);
    EXPECT_EQ(result.counts.memory.frees, 0u);
    EXPECT_EQ(result.counts.memory.allocated_bytes, 0u);
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 0u);
    EXPECT_EQ(result.counts.memory.peak_host_bytes, 0u);
    EXPECT_EQ(result.counts.undefined_events, 0u);
    EXPECT_EQ(result.counts.unmatched_frees, 0u);
    EXPECT_EQ(result.lost_bytes(), 4_MiB) << "one was freed";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HeapKindsWithoutMemory,
    testing::Values(NoMemory{"Imported", "cuMemPoolImportPointer", "cuMemFreeAsync"},
                    NoMemory{"Ipc", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle"},
                    NoMemory{"External", "cuImportExternalMemory", "cuDestroyExternalMemory"},
                    NoMemory{"MappedBuffer", "cuExternalMemoryGetMappedBuffer", "cuMemFree_v2"},
                    NoMemory{"MappedMipmap", "cuExternalMemoryGetMappedMipmappedArray",
                             "cuMipmappedArrayDestroy"},
                    NoMemory{"Physical", "cuMemImportFromShareableHandle", "cuMemRelease"},
                    NoMemory{"Multicast", "cuMulticastCreate", "cuMemRelease"},
                    NoMemory{"Pool", "cuMemPoolCreate", "cuMemPoolDestroy"},
                    NoMemory{"GreenContext", "cuGreenCtxCreate", "cuGreenCtxDestroy"},
                    NoMemory{"GraphExec", "cuGraphInstantiateWithFlags", "cuGraphExecDestroy"}),
    [](const auto& test_case) { return std::string(test_case.param.what); });

TEST(HeapKinds, MemoryOfAnotherProcessIsClosedAsOftenAsItWasOpened)
{
    LogBuilder log;
    for (int i = 0; i < 3; ++i)
        log.alloc(0x1000, 8, 1, "cuIpcOpenMemHandle_v2");
    log.free(0x1000, "cuIpcCloseMemHandle").free(0x1000, "cuIpcCloseMemHandle");
    const Replayed open = replay(log);
    EXPECT_EQ(open.lost.size(), 1u);
    const Replayed closed = replay(log.free(0x1000, "cuIpcCloseMemHandle"));
    EXPECT_TRUE(closed.lost.empty());
    EXPECT_EQ(closed.counts.unmatched_frees + closed.counts.missed_frees, 0u);
}

TEST(HeapKinds, AnIpcHandleIsOpenUntilItWasClosedAsOftenAsOpened)
{
    LogBuilder log;
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    log.alloc(0x1000, 2_MiB, 2, "cuIpcOpenMemHandle_v2").free(0x1000, "cuIpcCloseMemHandle");
    const Replayed once = replay(log);
    EXPECT_EQ(once.counts.missed_frees, 0u);
    ASSERT_EQ(once.lost.size(), 1u);
    EXPECT_EQ(once.lost[0].bytes, 2_MiB);
    log.free(0x1000, "cuIpcCloseMemHandle");
    EXPECT_TRUE(replay(log).lost.empty());
    EXPECT_EQ(replay(log).counts.unmatched_frees, 0u);
    log.free(0x1000, "cuIpcCloseMemHandle");
    EXPECT_EQ(replay(log).counts.unmatched_frees, 1u);
}

TEST(HeapKinds, AMappingThatWasOpenedTwiceHasItsBytesOnce)
{
    LogBuilder log;
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].blocks, 1u) << "it is one mapping";
    EXPECT_EQ(result.lost[0].bytes, 2_MiB);
}

TEST(HeapKinds, MemoryOfAPoolIsWhereThePoolIs)
{
    LogBuilder log;
    log.pool(0x70, 2).pool(0x71, 3).pool(0x72, 0, true).pool(0x73, 1);
    for (const std::uint64_t pool : {0x70u, 0x71u, 0x72u, 0x73u, 0x74u}) {
        log.place({.context = 1, .device = 0, .stream = 1, .pool = pool});
        log.alloc(pool * 0x1000, 1_MiB, pool, "cuMemAllocFromPoolAsync");
    }
    log.context_gone(1);
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.memory.peak_host_bytes, 2_MiB);
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 3_MiB);
    ASSERT_EQ(result.lost.size(), 5u);
    EXPECT_EQ(result.lost[0].memory, Memory::pinned);
    EXPECT_EQ(result.lost[2].memory, Memory::managed);
    EXPECT_EQ(result.lost[3].memory, Memory::async);
    EXPECT_EQ(result.lost[4].memory, Memory::async);
    for (const LostBlocks& blocks : result.lost)
        EXPECT_EQ(blocks.fate, Fate::kept) << "it survives its context";
    for (const std::uint64_t pool : {0x70u, 0x71u, 0x72u, 0x73u, 0x74u})
        log.free(pool * 0x1000, "cuMemFreeAsync");
    EXPECT_TRUE(replay(log).lost.empty());
}

TEST(HeapKinds, WhatAPoolGaveOutOutlivesIt)
{
    LogBuilder log;
    log.alloc(0x70, 0, 1, "cuMemPoolCreate").pool(0x70, 2);
    log.place({.stream = 1, .pool = 0x70}).alloc(0x1000, 1_MiB, 2, "cuMemAllocFromPoolAsync");
    log.free(0x70, "cuMemPoolDestroy").trim(0x70, 0);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.pool_trims, 1u);
}

TEST(HeapKinds, BlocksThatWereSharedAreCounted)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1).alloc(0x2000, 1_MiB, 1).shared(0x1000);
    log.alloc(5, 2_MiB, 2, "cuMemCreate").shared(5, "cuMemExportToShareableHandle").shared(0x777);
    log.alloc(6, 2_MiB, 3, "cuMemCreate").map(0x8000, 2_MiB, 6).shared(0x9000);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 3u);
    for (const LostBlocks& blocks : result.lost)
        EXPECT_EQ(blocks.shared_blocks, 1u) << blocks.stack;
    EXPECT_EQ(result.counts.names_given, 4u);
}

// Each launch allocates at the address of the node, whose record stands before it.
TEST(HeapKinds, WhatALaunchOfAGraphLeavesIsTheProgramsToFree)
{
    LogBuilder log;
    log.alloc(0x1000, 64, 1, "cuGraphAddMemAllocNode").alloc(0x1000, 64, 1, "cuGraphLaunch");
    EXPECT_EQ(replay(log).lost_bytes(), 64u + 64u) << "the node is listed as the graph's";
    log.free(0x1000, "cuMemFreeAsync");
    const Replayed freed = replay(log);
    EXPECT_EQ(freed.counts.frees, 1u);
    EXPECT_EQ(freed.lost_bytes(), 64u);
    log.alloc(0x1000, 64, 1, "cuGraphLaunch").alloc(0x1000, 64, 1, "cuGraphLaunch");
    const Replayed again = replay(log);
    EXPECT_EQ(again.counts.frees, 2u) << "it frees on launch";
    EXPECT_EQ(again.counts.missed_frees, 0u);
    EXPECT_EQ(again.lost_bytes(), 64u + 64u);
    EXPECT_EQ(again.counts.memory.allocated_bytes, 3 * 64u);
}

TEST(HeapKinds, TexturesAndSurfacesOfOneNumberAreTwo)
{
    LogBuilder log;
    log.alloc(7, 0, 1, "cuTexObjectCreate").alloc(7, 0, 2, "cuSurfObjectCreate");
    log.free(7, "cuTexObjectDestroy");
    const Replayed left = replay(log);
    ASSERT_EQ(left.lost.size(), 1u);
    EXPECT_EQ(left.lost[0].stack, 2u);
}

} // namespace
} // namespace vramscope::report
