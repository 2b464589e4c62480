// tests/report/replay/reading/reading_test.cpp — one reading of a log, in batches and record by record.
#include "report/replay/reading/reading.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

using Times = std::vector<std::uint64_t>;

// A log that is open, its reading, and a heap to be fed.
struct Scene {
    explicit Scene(const Bytes& log, const ReadingExtent& extent = {})
        : bytes(log), file(LogFile::open(bytes.path())), reading(file, extent),
          heap(reading.tables(), file.header().exit_began_ticks)
    {
    }
    explicit Scene(const LogBuilder& log, const ReadingExtent& extent = {})
        : Scene(log.build(), extent)
    {
    }

    void apply(const Record& record)
    {
        heap.apply(record);
        if (record.timed)
            times.push_back(record.ticks);
    }

    TempFile bytes;
    LogFile file;
    Reading reading;
    HeapReplay heap;
    Times times; // of the records that were applied
};

enum class Way { in_batches, by_record };

class ReadingEitherWay : public testing::TestWithParam<Way> {
protected:
    static void read(Scene& scene, const ReadingControl& control = {})
    {
        if (GetParam() == Way::by_record)
            scene.reading.read(scene.heap, control,
                               [&](const Record& record) { scene.apply(record); });
        else
            scene.reading.read_ahead(
                scene.heap, control, [&](const RecordBatch& batch, const SegmentReplay&) {
                    for_each_record(batch, scene.heap,
                                    [&](const Record& record, std::span<const PoolChange>) {
                                        scene.apply(record);
                                    });
                });
        scene.heap.finish();
    }
};

INSTANTIATE_TEST_SUITE_P(Reading, ReadingEitherWay,
                         testing::Values(Way::in_batches, Way::by_record), [](const auto& way) {
                             return way.param == Way::in_batches ? "InBatches" : "ByRecord";
                         });

constexpr std::uint64_t kManyPairs = 150'000;

LogBuilder many_pairs()
{
    LogBuilder log;
    for (std::uint64_t pair = 0; pair < kManyPairs; ++pair)
        log.alloc(0x1000, 1_MiB).free(0x1000);
    return log;
}

TEST_P(ReadingEitherWay, GivesAllRecordsInOrderAndTellsHowFarItIs)
{
    Scene scene(many_pairs());
    std::vector<double> told;
    read(scene, {.progress = [&](double fraction) { told.push_back(fraction); },
                 .interrupted = [] { return false; }});
    EXPECT_EQ(scene.times.size(), 2 * kManyPairs);
    EXPECT_TRUE(std::is_sorted(scene.times.begin(), scene.times.end()));
    EXPECT_FALSE(scene.reading.interrupted());
    ASSERT_EQ(told.size(), 2 * kManyPairs >> 16);
    EXPECT_GT(told.front(), 0.1);
    EXPECT_LT(told.front(), 0.4);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_LT(told.back(), 1);
}

TEST_P(ReadingEitherWay, EndsWhereItIsInterrupted)
{
    Scene scene(many_pairs());
    int asked = 0;
    read(scene, {.progress = {}, .interrupted = [&] { return ++asked == 2; }});
    EXPECT_EQ(asked, 2) << "it is not asked again";
    EXPECT_TRUE(scene.reading.interrupted());
    EXPECT_GT(scene.times.size(), (std::size_t{2} << 16) - 10) << "definitions have no time";
    EXPECT_LT(scene.times.size(), std::size_t{3} << 16) << "a few batches are on their way";
    EXPECT_EQ(scene.heap.counts().events, scene.times.size());
    EXPECT_GT(scene.reading.fraction_read(), 0.3);
    EXPECT_LT(scene.reading.fraction_read(), 0.7);
}

TEST_P(ReadingEitherWay, OfADamagedFileGivesWhatIsWhole)
{
    LogBuilder log(512);
    log.at(100).alloc(0x1000, 256).thread(1).at(200).alloc(0x2000, 256);
    Bytes bytes = log.build();
    bytes[log.chunk_offset(1) + offsetof(format::ChunkHeader, magic)] ^= 1;
    Scene scene(bytes);
    read(scene);
    EXPECT_EQ(scene.times, Times{100});
    EXPECT_EQ(scene.reading.reader().damaged_chunks(), 1u);
}

TEST_P(ReadingEitherWay, OfAFileThatShrinksEndsEarlyAndSaysSo)
{
    Scene scene(many_pairs());
    scene.bytes.resize(scene.file.chunk_offset(1) + 1000);
    read(scene);
    EXPECT_LT(scene.times.size(), kManyPairs);
    EXPECT_GT(scene.times.size(), 1000u);
    EXPECT_TRUE(scene.reading.reader().cut());
}

TEST_P(ReadingEitherWay, KnowsAnEntryPointBeforeAnotherThreadDefinesIt)
{
    LogBuilder log;
    log.thread(0).at(100).define_api("cuMemFree_v2").define_api("cuMemAlloc_v2");
    log.thread(1).at(100).alloc(0x1000, 1).free(0x1000);
    Bytes bytes = log.build();
    const std::uint64_t late = std::uint64_t{1} << 40;
    std::memcpy(bytes.data() + log.chunk_offset(0) + offsetof(format::ChunkHeader, base_ticks),
                &late, sizeof late);
    Scene scene(bytes);
    read(scene);
    EXPECT_EQ(scene.heap.counts().undefined_events, 0u);
    EXPECT_EQ(scene.heap.counts().frees, 1u);
}

TEST_P(ReadingEitherWay, CountsEventsOfAnEntryPointThatIsNotThere)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB).forget_definitions();
    log.raw([&] {
        Bytes record(format::kMaxHotBytes);
        format::DeltaState state{.ticks = log.now(), .address = 0};
        const format::Free event{.api = 4000, .ticks = log.now(), .address = 0x1000, .stack = 0};
        record.resize(static_cast<std::size_t>(format::encode_free(record.data(), event, state) -
                                               record.data()));
        return record;
    }());
    Scene scene(log);
    read(scene);
    EXPECT_EQ(scene.times.size(), 2u);
    EXPECT_EQ(scene.heap.counts().undefined_events, 1u);
    EXPECT_EQ(scene.heap.lost().size(), 1u);
}

TEST_P(ReadingEitherWay, KnowsSegmentsFromTheirBirth)
{
    Scene scene(test::program_that_cuts());
    EXPECT_TRUE(scene.reading.has_segments());
    read(scene);
    ASSERT_EQ(scene.heap.sites()[0].memory, format::Memory::segment)
        << "of the first allocation: nothing is cut from it yet";
    EXPECT_TRUE(scene.heap.segment_births().empty()) << "none is found late";
}

TEST_P(ReadingEitherWay, TakesFreesInFlightForDoneWhereTheProgramHasEnded)
{
    LogBuilder log;
    log.alloc(0x1000, 1_MiB, 1).pending_free(0x1000);
    Scene ended(log);
    read(ended);
    EXPECT_EQ(ended.heap.in_flight().size(), 1u);
    EXPECT_TRUE(ended.heap.lost().empty());
    Scene running(log, {.runs_on = true});
    read(running);
    EXPECT_TRUE(running.heap.in_flight().empty());
    EXPECT_EQ(running.heap.lost().size(), 1u) << "they are only on their way";
}

TEST_P(ReadingEitherWay, ReadsNothingLaterThanItsExtent)
{
    LogBuilder log;
    log.header().start_ticks = 50;
    for (const std::uint64_t ticks : {100, 200, 300})
        log.at(ticks).alloc(0x1000 * ticks, 256);
    for (const ReadingExtent& extent :
         {ReadingExtent{.until_ticks = 250}, ReadingExtent{.until_ns = 200},
          ReadingExtent{.until_ticks = 250, .until_ns = 1000},
          ReadingExtent{.until_ticks = 999, .until_ns = 200}}) {
        Scene scene(log, extent);
        read(scene);
        EXPECT_EQ(scene.times, (Times{100, 200}));
        scene.times.clear();
        scene.reading.read_again([&](const Record& record) {
            if (record.timed)
                scene.times.push_back(record.ticks);
        });
        EXPECT_EQ(scene.times, (Times{100, 200})) << "nor does a second reading";
    }
}

TEST(Reading, OfALogWithoutCutBlocksHasNoSegments)
{
    EXPECT_FALSE(Scene(LogBuilder().alloc(0x1000, 1_MiB)).reading.has_segments());
}

TEST(Reading, GoesOnWithWhatARunningProgramWrote)
{
    LogBuilder log;
    log.at(100).alloc(0x1000, 256).at(300).alloc(0x3000, 256);
    Scene scene(log);
    const auto apply = [&](const RecordBatch& batch, const SegmentReplay&) {
        for (const Record& record : batch.records())
            scene.apply(record);
    };
    const auto never = [] { return false; };
    EXPECT_TRUE(scene.reading.go_on(200, apply, never));
    EXPECT_EQ(scene.times, Times{100});
    const Bytes more = log.at(400).free(0x1000).build();
    std::ofstream(scene.bytes.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(more.data()),
               static_cast<std::streamsize>(more.size()));
    scene.file.refresh();
    EXPECT_TRUE(scene.reading.go_on(UINT64_MAX, apply, never));
    EXPECT_EQ(scene.times, (Times{100, 300, 400}));
}

TEST(Reading, LeavesTheRestOfALongLogForTheNextTime)
{
    constexpr std::uint64_t kPairs = 100'000;
    LogBuilder log;
    for (std::uint64_t at = 0; at < kPairs; ++at)
        log.alloc(0x1000, 256).free(0x1000);
    Scene scene(log);
    std::uint64_t records = 0;
    const auto count = [&records](const RecordBatch& batch, const SegmentReplay&) {
        for (const Record& record : batch.records())
            records += is_hot(record.tag);
    };
    EXPECT_FALSE(scene.reading.go_on(UINT64_MAX, count, [] { return true; }));
    EXPECT_GT(records, 0u);
    EXPECT_LT(records, 2 * kPairs);
    EXPECT_TRUE(scene.reading.go_on(UINT64_MAX, count, [] { return false; }));
    EXPECT_EQ(records, 2 * kPairs);
}

TEST(Reading, GivesEachRecordOfABatchWhatItChangedInThePool)
{
    LogBuilder log;
    log.segment(0x10000000, 2_MiB).pooled(0x10000000, 4_KiB).alloc(0x50000000, 1_MiB);
    log.free(0x10000000);
    Scene scene(log);
    std::vector<std::string> changed;
    scene.reading.read_ahead(scene.heap, {}, [&](const RecordBatch& batch, const SegmentReplay&) {
        for_each_record(batch, scene.heap,
                        [&](const Record& record, std::span<const PoolChange> changes) {
                            for (const PoolChange& change : changes)
                                changed.push_back(std::to_string(static_cast<int>(record.tag)) +
                                                  ": " + std::to_string(change.bytes.allocated) +
                                                  " of " + std::to_string(change.bytes.reserved));
                        });
    });
    const auto tag = [](format::Tag value) { return std::to_string(static_cast<int>(value)); };
    EXPECT_EQ(changed, (std::vector<std::string>{tag(format::Tag::segment) + ": 0 of 2097152",
                                                 tag(format::Tag::alloc) + ": 4096 of 2097152",
                                                 tag(format::Tag::free) + ": 0 of 2097152"}));
}

} // namespace
} // namespace vramscope::report
