// tests/report/replay/heap/heap_replay_test.cpp — which blocks live, and how the others ended.
#include "report/replay/heap/heap_replay.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "tests/report/replay/heap/heap_scene.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

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
