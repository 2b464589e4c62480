// tests/report/replay/heap/heap_replay_test.cpp — which blocks live, and how the others ended.
#include "report/replay/heap/heap_replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "report/log/log_reader.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

struct Replayed {
    ReplayCounts counts;
    std::vector<LostBlocks> lost; // by stack
    std::vector<BlockInFlight> in_flight;

    std::uint64_t lost_bytes() const
    {
        std::uint64_t sum = 0;
        for (const LostBlocks& blocks : lost)
            sum += blocks.bytes;
        return sum;
    }
};

Replayed replay(const LogBuilder& log)
{
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    LogTables tables([&](LogTables& defined) {
        reader.scan(format::Tag::api, [&](const Record& record) { defined.define(record); });
    });
    HeapReplay heap(tables, opened.header().exit_began_ticks);
    heap.expect(reader.pending_frees());
    while (const Record* const record = reader.next())
        heap.apply(*record);
    heap.finish();
    return {heap.counts(), heap.lost(), heap.in_flight()};
}

TEST(HeapReplay, FreedBlocksAreNotLost)
{
    const Replayed result = replay(LogBuilder().alloc(0x1000, 1_MiB).free(0x1000));
    EXPECT_TRUE(result.lost.empty());
    EXPECT_EQ(result.counts.allocations, 1u);
    EXPECT_EQ(result.counts.frees, 1u);
    EXPECT_EQ(result.counts.unmatched_frees, 0u);
}

TEST(HeapReplay, SumsLostBlocksByStack)
{
    const Replayed result = replay(LogBuilder()
                                       .at(100)
                                       .alloc(0x1000, 1_MiB, 7)
                                       .alloc(0x2000, 2_MiB, 7)
                                       .alloc(0x3000, 4_MiB, 8));
    ASSERT_EQ(result.lost.size(), 2u);
    EXPECT_EQ(result.lost[0].stack, 7u);
    EXPECT_EQ(result.lost[0].bytes, 3_MiB);
    EXPECT_EQ(result.lost[0].blocks, 2u);
    EXPECT_EQ(result.lost[0].first_ticks, 100u);
    EXPECT_EQ(result.lost[0].last_ticks, 1100u);
    EXPECT_EQ(result.lost[1].bytes, 4_MiB);
}

TEST(HeapReplay, BlamesTheLastTenantOfAReusedAddress)
{
    const Replayed result =
        replay(LogBuilder().alloc(0x1000, 4_MiB, 1).free(0x1000).alloc(0x1000, 2_MiB, 2));
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.missed_frees, 0u);
}

TEST(HeapReplay, AllocationOverALiveBlockMeansThatAFreeWasMissed)
{
    const Replayed result = replay(LogBuilder().alloc(0x1000, 4_MiB, 1).alloc(0x1000, 2_MiB, 2));
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.missed_frees, 1u);
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 4_MiB) << "the two never lived together";
}

TEST(HeapReplay, AFreeThatIsWrittenLateBelongsToTheBlockBefore)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 1_MiB, 1);
    // A signal handler's range was recorded inside thread 0's free, and before it: the free comes
    // late in its chunk.
    log.at(400).push("handler").at(200).free(0x1000);
    log.thread(1).at(300).alloc(0x1000, 2_MiB, 2);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.missed_frees, 0u);
    EXPECT_EQ(result.counts.frees, 1u);
}

TEST(HeapReplay, FreesOfUnknownPointersAreCounted)
{
    const Replayed result =
        replay(LogBuilder().free(0x1000).alloc(0x2000, 256).free(0x2000).free(0x2000));
    EXPECT_EQ(result.counts.unmatched_frees, 2u);
    EXPECT_EQ(result.counts.frees, 1u);
}

TEST(HeapReplay, HandlesAndPointersOfTheSameNumberAreDifferentBlocks)
{
    LogBuilder log;
    log.alloc(0x40, 1_MiB, 1)
        .alloc(0x40, 2_MiB, 2, "cuArrayCreate_v2")
        .alloc(0x40, 4_MiB, 3, "cuMemHostAlloc");
    log.free(0x40, "cuArrayDestroy");
    EXPECT_EQ(replay(log).lost_bytes(), 5_MiB);
}

TEST(HeapReplay, PointersOfAllAllocatorsAreFreedByPlainFree)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1, "cuMemAllocAsync").free(0x1000);
    log.alloc(0x2000, 1_MiB, 1, "cuMemAllocManaged").free(0x2000);
    log.alloc(0x3000, 1_MiB, 1).free(0x3000, "cuMemFreeAsync");
    const Replayed result = replay(log);
    EXPECT_TRUE(result.lost.empty());
    EXPECT_EQ(result.counts.unmatched_frees, 0u);
}

TEST(HeapReplay, DeviceAndHostPeaksAreSeparate)
{
    LogBuilder log;
    log.alloc(0x1000, 10_MiB).alloc(0x2000, 5_MiB).free(0x1000).alloc(0x3000, 1_MiB);
    log.alloc(0x4000, 3_MiB, 0, "cuMemHostAlloc").alloc(0x5000, 2_MiB, 0, "cuMemHostRegister_v2");
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.memory.peak_device_bytes, 15_MiB);
    EXPECT_EQ(result.counts.memory.peak_host_bytes, 5_MiB);
    EXPECT_EQ(result.counts.memory.allocated_bytes, 21_MiB);
}

TEST(HeapReplay, ContextTakesItsOwnKindsOfMemoryWithIt)
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

TEST(HeapReplay, MemoryRegisteredAgainWentWithItsContext)
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

TEST(HeapReplay, AMappingWhoseAddressCameAgainWentWithItsContext)
{
    LogBuilder log;
    log.place({.context = 3}).alloc(0x1000, 8, 1, "cuExternalMemoryGetMappedBuffer");
    log.context_gone(3).place({.context = 4}).alloc(0x1000, 4, 2, "cuMemAllocManaged");
    EXPECT_EQ(replay(log).counts.missed_frees, 0u);
}

TEST(HeapReplay, MemoryOfAnotherProcessIsClosedAsOftenAsItWasOpened)
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

TEST(HeapReplay, OtherContextsKeepTheirBlocks)
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

TEST(HeapReplay, ContextThatIsUsedAgainHasANewLife)
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

TEST(HeapReplay, ContextThatIsDestroyedByTheExitIsTold)
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

TEST(HeapReplay, BlocksOfManyDeadContextsAreAllSummedUp)
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

TEST(HeapReplay, PhysicalMemoryIsBackOnlyWhenReleasedAndUnmapped)
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

TEST(HeapReplay, RetainedHandleNeedsAsManyReleases)
{
    LogBuilder log;
    log.alloc(1, 2_MiB, 1, "cuMemCreate").retain(1).free(1, "cuMemRelease");
    EXPECT_EQ(replay(log).lost_bytes(), 2_MiB);
    EXPECT_EQ(replay(log.free(1, "cuMemRelease")).lost_bytes(), 0u);
}

TEST(HeapReplay, GraphMemoryIsNeitherLostNorCounted)
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

TEST(HeapReplay, GraphMemoryMayBeFreedAgainAfterEachLaunch)
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
class HeapReplayWithoutMemory : public testing::TestWithParam<NoMemory> {};

TEST_P(HeapReplayWithoutMemory, DoesNotSumItUp)
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
    Kinds, HeapReplayWithoutMemory,
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

TEST(HeapReplay, PhaseIsThePathThatAllBlocksOfAStackShare)
{
    LogBuilder log;
    log.push("epoch")
        .push("step 1")
        .alloc(0x1000, 1, 1)
        .pop()
        .push("step 2")
        .alloc(0x2000, 1, 1)
        .pop();
    log.push("save").alloc(0x3000, 1, 2).alloc(0x4000, 1, 2).pop().pop().alloc(0x5000, 1, 3);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 3u);
    EXPECT_EQ(result.lost[0].phase, (std::vector<std::string>{"epoch"}));
    EXPECT_TRUE(result.lost[0].phases_differ);
    EXPECT_EQ(result.lost[1].phase, (std::vector<std::string>{"epoch", "save"}));
    EXPECT_FALSE(result.lost[1].phases_differ);
    EXPECT_TRUE(result.lost[2].phase.empty());
}

TEST(HeapReplay, NamesEveryThreadThatAllocatedOnce)
{
    LogBuilder log;
    log.thread(3)
        .at(100)
        .alloc(0x1000, 1, 1)
        .alloc(0x2000, 1, 1)
        .thread(1)
        .at(200)
        .alloc(0x3000, 1, 1);
    EXPECT_EQ(replay(log).lost.at(0).threads, (std::vector<std::uint32_t>{1, 3}));
}

TEST(HeapReplay, EntryPointMayBeDefinedLaterByAnotherThread)
{
    LogBuilder log;
    log.thread(0).at(100).define_api("cuMemFree_v2").define_api("cuMemAlloc_v2");
    log.at(500).alloc(0x9000, 1).free(0x9000);
    // Thread 1's events are earlier than all that thread 0 wrote, the definitions included.
    log.thread(1).at(100).alloc(0x1000, 1).free(0x1000);
    test::Bytes bytes = log.build();
    // Let thread 0 begin so late that its chunk is opened after thread 1's events.
    const std::uint64_t late = std::uint64_t{1} << 40;
    std::memcpy(bytes.data() + log.chunk_offset(0) + offsetof(format::ChunkHeader, base_ticks),
                &late, 8);
    const TempFile file(bytes);
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    LogTables tables([&](LogTables& defined) {
        reader.scan(format::Tag::api, [&](const Record& record) { defined.define(record); });
    });
    HeapReplay heap(tables, 0);
    while (const Record* const record = reader.next())
        heap.apply(*record);
    heap.finish();
    EXPECT_EQ(heap.counts().undefined_events, 0u);
    EXPECT_EQ(heap.counts().frees, 2u);
    EXPECT_TRUE(heap.lost().empty());
}

TEST(HeapReplay, EventsOfUndefinedEntryPointsAreCounted)
{
    LogBuilder log;
    log.alloc(0x1000, 1);
    test::Bytes record(format::kMaxHotBytes);
    format::DeltaState state{.ticks = log.now(), .address = 0};
    const format::Free event{.api = 4000, .ticks = log.now(), .address = 0x1000, .stack = 0};
    record.resize(
        static_cast<std::size_t>(format::encode_free(record.data(), event, state) - record.data()));
    log.raw(record);
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.undefined_events, 1u);
    EXPECT_EQ(result.lost.size(), 1u);
}

TEST(HeapReplay, AnIpcHandleIsOpenUntilItWasClosedAsOftenAsOpened)
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

TEST(HeapReplay, AMappingThatWasOpenedTwiceHasItsBytesOnce)
{
    LogBuilder log;
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    log.alloc(0x1000, 2_MiB, 1, "cuIpcOpenMemHandle_v2");
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].blocks, 1u) << "it is one mapping";
    EXPECT_EQ(result.lost[0].bytes, 2_MiB);
}

TEST(HeapReplay, AMappingThatWasOpenedTwiceGoesWithItsContextAtOnce)
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

TEST(HeapReplay, ImportedPhysicalMemoryHasTheSizeOfItsMapping)
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

TEST(HeapReplay, MemoryOfAPoolIsWhereThePoolIs)
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

TEST(HeapReplay, WhatAPoolGaveOutOutlivesIt)
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

TEST(HeapReplay, BlocksThatWereSharedAreCounted)
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

TEST(HeapReplay, TheEndOfAContextIsTheEndOfItsHandle)
{
    LogBuilder log;
    log.context(1).alloc(0xc1, 0, 1, "cuCtxCreate_v2").context(2);
    log.alloc(0xc2, 0, 2, "cuCtxCreate_v2").context_gone(1);
    const Replayed result = replay(log);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    EXPECT_EQ(result.counts.allocations, 0u);
}

TEST(HeapReplay, AFreeInFlightLeavesItsBlockNeitherLostNorFreed)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1).alloc(0x2000, 2_MiB, 2).pending_free(0x1000, 3);
    const Replayed result = replay(log);
    EXPECT_EQ(result.counts.frees, 0u);
    ASSERT_EQ(result.lost.size(), 1u);
    EXPECT_EQ(result.lost[0].stack, 2u);
    ASSERT_EQ(result.in_flight.size(), 1u);
    EXPECT_EQ(result.in_flight[0].block.bytes, 1_MiB);
    EXPECT_EQ(result.in_flight[0].free.stack, 3u);
}

TEST(HeapReplay, AFreeInFlightExplainsThatItsAddressWasHandedOutAgain)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1).pending_free(0x1000);
    log.thread(1).alloc(0x1000, 2_MiB, 2);
    const Replayed once = replay(log);
    EXPECT_EQ(once.counts.missed_frees, 0u);
    EXPECT_EQ(once.counts.frees, 1u) << "it was done, or the address would not be free";
    EXPECT_TRUE(once.in_flight.empty());
    ASSERT_EQ(once.lost.size(), 1u);
    EXPECT_EQ(once.lost[0].stack, 2u);
    log.alloc(0x1000, 2_MiB, 3);
    EXPECT_EQ(replay(log).counts.missed_frees, 1u) << "but only once";
}

TEST(HeapReplay, AFreeInFlightIsOfNoBlockThatIsYounger)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1).pending_free(0x5000);
    log.thread(1).alloc(0x5000, 2_MiB, 2);
    EXPECT_EQ(replay(log).lost.size(), 2u);
    EXPECT_TRUE(replay(log).in_flight.empty());
}

TEST(HeapReplay, AReleaseInFlightIsOfTheMemoryThatHangsOnIt)
{
    LogBuilder log;
    log.alloc(5, 2_MiB, 1, "cuMemCreate").pending_free(5, 0, "cuMemRelease");
    EXPECT_EQ(replay(log).in_flight.size(), 1u);
    EXPECT_TRUE(replay(log).lost.empty());
    LogBuilder mapped;
    mapped.alloc(5, 2_MiB, 1, "cuMemCreate").map(0x8000, 2_MiB, 5);
    mapped.pending_free(5, 0, "cuMemRelease");
    EXPECT_TRUE(replay(mapped).in_flight.empty());
    EXPECT_EQ(replay(mapped).lost_bytes(), 2_MiB) << "its mapping keeps it";
}

TEST(HeapReplay, FailedCallsAreNoAllocations)
{
    const Replayed result = replay(LogBuilder().failed(2, 100_MiB));
    EXPECT_EQ(result.counts.failed_calls, 1u);
    EXPECT_EQ(result.counts.allocations, 0u);
    EXPECT_TRUE(result.lost.empty());
}

} // namespace
} // namespace vramscope::report
