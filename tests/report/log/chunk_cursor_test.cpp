// tests/report/log/chunk_cursor_test.cpp — a chunk's records: whole, large and damaged ones.
#include "report/log/chunk_cursor.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

struct Decoded {
    std::vector<Record> records;
    bool damaged = false;
    bool cut = false;
};

// Of the first chunk. `committed`: instead of what the chunk says.
ChunkCursor cursor_of(const LogFile& log, std::uint32_t committed)
{
    format::ChunkHeader header{};
    log.read_at(log.chunk_offset(0), &header, sizeof header);
    return {log, log.chunk_offset(0) + sizeof header, committed == 0 ? header.committed : committed,
            header.base_ticks, header.lane};
}

Decoded decode(const TempFile& file, std::uint32_t committed = 0)
{
    const LogFile log = LogFile::open(file.path());
    ChunkCursor cursor = cursor_of(log, committed);
    Decoded decoded;
    Record record;
    while (cursor.next(record))
        decoded.records.push_back(record);
    decoded.damaged = cursor.damaged();
    decoded.cut = cursor.cut();
    return decoded;
}

TEST(ChunkCursor, GivesEventsWithTheFieldsThatWereWritten)
{
    LogBuilder log;
    log.define_api("cuMemAlloc_v2").at(5'000'000).alloc(0x7f0000001234, 1001, 17);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 2u);
    EXPECT_EQ(decoded.records[0].tag, format::Tag::api);
    EXPECT_FALSE(decoded.records[0].timed);
    const Record& alloc = decoded.records[1];
    EXPECT_EQ(alloc.tag, format::Tag::alloc);
    EXPECT_TRUE(alloc.timed);
    EXPECT_EQ(alloc.ticks, 5'000'000u);
    EXPECT_EQ(alloc.address, 0x7f0000001234u);
    EXPECT_EQ(alloc.bytes, 1001u);
    EXPECT_EQ(alloc.stack, 17u);
    EXPECT_FALSE(decoded.damaged || decoded.cut);
}

TEST(ChunkCursor, GoesOnBehindTheRecordsThatItSkipped)
{
    LogBuilder log;
    log.define_api("cuMemAlloc_v2");
    for (std::uint64_t event = 0; event < 3000; ++event) {
        log.alloc(0x7f0000000000 + event * 512, 512, event % 7);
        if (event % 100 == 0)
            log.info("key", std::to_string(event)).context(event);
    }
    const TempFile file(log.build());
    const std::vector<Record> all = decode(file).records;
    const LogFile opened = LogFile::open(file.path());
    for (std::size_t skipped = 0; skipped < all.size(); skipped += 1 + skipped / 9) {
        ChunkCursor cursor = cursor_of(opened, 0);
        Record record;
        ASSERT_TRUE(cursor.skip(skipped));
        EXPECT_EQ(cursor.records(), skipped);
        ASSERT_TRUE(cursor.next(record));
        EXPECT_EQ(record.tag, all[skipped].tag);
        EXPECT_EQ(record.ticks, all[skipped].ticks);
        if (is_hot(record.tag)) {
            EXPECT_EQ(record.address, all[skipped].address);
        }
        EXPECT_EQ(cursor.records(), skipped + 1);
    }
    ChunkCursor cursor = cursor_of(opened, 0);
    EXPECT_TRUE(cursor.skip(all.size()));
    EXPECT_FALSE(cursor.skip(1));
}

TEST(ChunkCursor, APooledAllocationIsAnAllocationWithTheSlackOfItsBlock)
{
    LogBuilder log;
    log.define_api("cuMemAlloc_v2").pooled(0x7f0000000400, 1000, 24, 17);
    log.alloc(0x7f0000001234, 1001, 17);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 3u);
    const Record& pooled = decoded.records[1];
    EXPECT_EQ(pooled.tag, format::Tag::alloc);
    EXPECT_TRUE(pooled.pooled);
    EXPECT_EQ(pooled.address, 0x7f0000000400u);
    EXPECT_EQ(pooled.bytes, 1000u);
    EXPECT_EQ(pooled.slack, 24u);
    EXPECT_FALSE(decoded.records[2].pooled);
    EXPECT_EQ(decoded.records[2].address, 0x7f0000001234u);
}

TEST(ChunkCursor, RecordsOfTheInternalPoolHaveTheirTime)
{
    LogBuilder log;
    log.define_api("cuMemAlloc_v2").at(5'000'000).segment(0x1000, 4096).segment_gone(0x1000);
    log.reusable(5).retried(1, 2).out_of_memory({.requested = 7});
    log.damaged(format::Damage::overrun, 0x1000, -3, 1);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 7u);
    for (std::size_t at = 1; at < decoded.records.size(); ++at) {
        EXPECT_TRUE(decoded.records[at].timed);
        EXPECT_EQ(decoded.records[at].ticks, 5'000'000 + 1000 * (at - 1));
    }
    EXPECT_FALSE(decoded.damaged || decoded.cut);
}

TEST(ChunkCursor, PlainTimesLeaveTheDeltasAlone)
{
    LogBuilder log;
    log.define_api("cuMemAlloc_v2").at(5'000'000).device_memory(1, 2);
    log.driver_time("cuMemAlloc_v2", 64, 6400, 200).alloc(0x1000, 256);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 4u);
    for (std::size_t at = 1; at < decoded.records.size(); ++at) {
        EXPECT_TRUE(decoded.records[at].timed);
        EXPECT_EQ(decoded.records[at].ticks, 5'000'000 + 1000 * (at - 1));
    }
    EXPECT_EQ(decoded.records[1].tag, format::Tag::device_memory);
    EXPECT_EQ(decoded.records[2].tag, format::Tag::driver_time);
    EXPECT_FALSE(decoded.damaged);
}

TEST(ChunkCursor, TellsWhoseRecordsFollowOneAnother)
{
    LogBuilder log;
    log.thread(3).alloc(0x1000, 1).passed_to(7, 4711, "next").alloc(0x2000, 1).free(0x1000);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    std::vector<std::uint32_t> threads;
    for (const Record& record : decoded.records)
        if (record.tag != format::Tag::api)
            threads.push_back(record.thread);
    EXPECT_EQ(threads, (std::vector<std::uint32_t>{3, 7, 7, 7}));
    EXPECT_EQ(decoded.records.back().address, 0x1000u) << "deltas go on";
}

TEST(ChunkCursor, ReadsRecordsLargerThanItsWindow)
{
    LogBuilder log;
    log.info("small", "x").info("large", std::string(60'000, 'y')).alloc(0x1000, 256);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 4u);
    EXPECT_EQ(decoded.records[1].tag, format::Tag::info);
    EXPECT_EQ(decoded.records[3].address, 0x1000u);
    EXPECT_FALSE(decoded.damaged);
}

TEST(ChunkCursor, ReadsManyRecordsAcrossWindows)
{
    LogBuilder log;
    for (std::uint64_t block = 1; block <= 5000; ++block)
        log.alloc(block * 0x100000, block, block);
    ASSERT_EQ(log.chunks(), 1u);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 5001u);
    for (std::uint64_t block = 1; block <= 5000; ++block) {
        ASSERT_EQ(decoded.records[block].address, block * 0x100000);
        ASSERT_EQ(decoded.records[block].bytes, block);
    }
}

TEST(ChunkCursor, SkipsLengthPrefixedRecordsThatItDoesNotKnow)
{
    LogBuilder log;
    log.record(0x7f, Bytes(100, 0xff)).alloc(0x1000, 256);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 2u);
    EXPECT_EQ(decoded.records.back().address, 0x1000u);
    EXPECT_FALSE(decoded.damaged);
}

TEST(ChunkCursor, StopsAtAHotRecordOfUnknownShapeAndSaysSo)
{
    LogBuilder log;
    log.alloc(0x1000, 256).raw({0x1f, 1, 2, 3}).alloc(0x2000, 256);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    EXPECT_EQ(decoded.records.size(), 2u);
    EXPECT_TRUE(decoded.damaged);
}

TEST(ChunkCursor, ZerosWithinTheCommittedBytesAreDamage)
{
    LogBuilder log;
    log.alloc(0x1000, 256).raw(Bytes(32, 0));
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    EXPECT_EQ(decoded.records.size(), 2u);
    EXPECT_TRUE(decoded.damaged);
}

TEST(ChunkCursor, AMalformedBodyCostsOneRecordOnly)
{
    LogBuilder log;
    log.record(static_cast<std::uint8_t>(format::Tag::range_pop), Bytes(12, 0xff))
        .alloc(0x1000, 256);
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    ASSERT_EQ(decoded.records.size(), 2u);
    EXPECT_EQ(decoded.records.back().address, 0x1000u);
    EXPECT_TRUE(decoded.damaged);
}

TEST(ChunkCursor, ARecordWithPlainTimeThatLacksANumberIsDamage)
{
    LogBuilder log;
    log.record(0x3a, {1, 2, 3, 4}).record(0x39, {1, 0, 5}).alloc(0x1000, 256); // one short each
    const Decoded decoded = decode(TempFile(log.build()));
    EXPECT_TRUE(decoded.damaged);
    EXPECT_EQ(decoded.records.back().tag, format::Tag::alloc);
    for (const Record& record : decoded.records)
        EXPECT_TRUE(record.tag != format::Tag::driver_time &&
                    record.tag != format::Tag::device_memory);
}

TEST(ChunkCursor, ALengthBeyondTheChunkEndsItWithoutReadingOn)
{
    LogBuilder log;
    log.alloc(0x1000, 256).raw({0x20, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f});
    const TempFile file(log.build());
    const Decoded decoded = decode(file);
    EXPECT_EQ(decoded.records.size(), 2u);
    EXPECT_TRUE(decoded.damaged);
}

TEST(ChunkCursor, AnEventThatIsCommittedInPartIsNotGiven)
{
    LogBuilder log;
    log.alloc(0x1000, 256).alloc(0x2000, 256);
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    format::ChunkHeader header{};
    opened.read_at(opened.chunk_offset(0), &header, sizeof header);
    const Decoded decoded = decode(file, header.committed - 1);
    EXPECT_EQ(decoded.records.size(), 2u);
    EXPECT_TRUE(decoded.damaged);
}

TEST(ChunkCursor, AFileThatShrinksWhileItIsReadIsCutNotDamaged)
{
    LogBuilder log;
    for (std::uint64_t block = 1; block <= 8000; ++block)
        log.alloc(block * 0x1000, 256);
    TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    format::ChunkHeader header{};
    opened.read_at(opened.chunk_offset(0), &header, sizeof header);
    ChunkCursor cursor(opened, opened.chunk_offset(0) + sizeof header, header.committed,
                       header.base_ticks, 0);
    Record record;
    ASSERT_TRUE(cursor.next(record));
    file.resize(opened.chunk_offset(0) + 1000);
    std::size_t records = 1;
    while (cursor.next(record))
        ++records;
    EXPECT_LT(records, 8001u);
    EXPECT_TRUE(cursor.cut());
    EXPECT_FALSE(cursor.damaged());
}

TEST(ChunkCursor, PlaceHoldsForTheFollowingEvents)
{
    LogBuilder log;
    log.alloc(0x1000, 256).place({.context = 3, .device = 1}).alloc(0x2000, 256);
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    format::ChunkHeader header{};
    opened.read_at(opened.chunk_offset(0), &header, sizeof header);
    ChunkCursor cursor(opened, opened.chunk_offset(0) + sizeof header, header.committed,
                       header.base_ticks, 0);
    Record record;
    ASSERT_TRUE(cursor.next(record)); // the entry point
    ASSERT_TRUE(cursor.next(record));
    EXPECT_EQ(record.place.device, -1);
    ASSERT_TRUE(cursor.next(record));
    EXPECT_EQ(record.place.device, 1);
    EXPECT_EQ(record.place.context, 3u);
}

} // namespace
} // namespace vramscope::report
