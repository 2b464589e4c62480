// tests/report/log/log_reader_test.cpp — the merge of all threads' records.
#include "report/log/log_reader.hpp"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using format::Tag;
using test::Bytes;
using test::LogBuilder;
using test::TempFile;

// The timed records as "tag@ticks/thread", in the order in which they come.
std::vector<std::string> order(const Bytes& bytes)
{
    const TempFile file(bytes);
    const LogFile log = LogFile::open(file.path());
    LogReader reader(log);
    std::vector<std::string> events;
    while (const Record* const record = reader.next()) {
        if (record->timed)
            events.push_back(std::to_string(static_cast<int>(record->tag)) + "@" +
                             std::to_string(record->ticks) + "/" + std::to_string(record->thread));
    }
    return events;
}

TEST(LogReader, MergesThreadsByTime)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).at(300).alloc(0x2000, 256);
    log.thread(1).at(200).alloc(0x3000, 256).at(400).free(0x3000);
    EXPECT_EQ(order(log.build()),
              (std::vector<std::string>{"1@100/0", "1@200/1", "1@300/0", "2@400/1"}));
}

TEST(LogReader, ARecordsTextStaysUntilTheNextIsAskedFor)
{
    LogBuilder log;
    for (int at = 0; at < 5000; ++at) // more than a window
        log.mark("mark " + std::to_string(at));
    const TempFile file(log.build());
    const LogFile logged = LogFile::open(file.path());
    LogReader reader(logged);
    int at = 0;
    while (const Record* const record = reader.next()) {
        if (record->tag != Tag::mark)
            continue;
        format::Cursor in = record->body;
        EXPECT_EQ(in.prefixed_text(), "mark " + std::to_string(at++));
    }
    EXPECT_EQ(at, 5000);
}

TEST(LogReader, PutsFreesBeforeAllocationsOfTheSameTime)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).at(500).alloc(0x2000, 256);
    log.thread(1).at(500).free(0x1000);
    EXPECT_EQ(order(log.build()), (std::vector<std::string>{"1@100/0", "2@500/1", "1@500/0"}));
}

TEST(LogReader, GivesTheSameOrderHoweverTheThreadsAreCutIntoChunks)
{
    const auto write = [](std::uint32_t chunk_bytes) {
        LogBuilder log(chunk_bytes);
        std::mt19937 random(7);
        for (std::uint64_t event = 0; event < 3000; ++event) {
            log.thread(static_cast<std::uint32_t>(random() % 5));
            log.at(1'000'000 + event * 10);
            if (random() % 3 == 0)
                log.push("step").pop();
            log.at(1'000'005 + event * 10).alloc(event * 4096, random() % 100'000, event);
        }
        return order(log.build());
    };
    const std::vector<std::string> whole = write(format::kChunkBytes);
    EXPECT_GT(whole.size(), 3000u);
    for (const std::uint32_t chunk_bytes : {256u, 300u, 1024u, 5000u})
        EXPECT_EQ(write(chunk_bytes), whole) << chunk_bytes;
}

TEST(LogReader, ReadsChunksOfAThreadInTheirOrderWhereverTheyLie)
{
    LogBuilder log(512);
    log.at(100).alloc(0x1000, 256).new_chunk().at(200).alloc(0x2000, 256);
    Bytes bytes = log.build();
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(log.chunk_offset(0));
    std::swap_ranges(first, first + 512, first + 512);
    EXPECT_EQ(order(bytes), (std::vector<std::string>{"1@100/0", "1@200/0"}));
}

TEST(LogReader, AcceptsAnEventThatIsOlderThanItsChunk)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).at(300).alloc(0x2000, 256);
    log.thread(1).at(900).new_chunk().at(200).free(
        0x1000); // stamped before its driver call, written after it
    EXPECT_EQ(order(log.build()), (std::vector<std::string>{"1@100/0", "2@200/1", "1@300/0"}));
}

TEST(LogReader, GivesDefinitionsBeforeTheEventsThatFollowThem)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).stack(9, {1, 2});
    log.thread(1).at(150).alloc(0x2000, 256, 9);
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    bool defined = false;
    while (const Record* const record = reader.next()) {
        defined = defined || record->tag == Tag::stack;
        if (record->timed && record->stack == 9) {
            EXPECT_TRUE(defined);
        }
    }
    EXPECT_TRUE(defined);
}

TEST(LogReader, UnusedChunkIsNoDamage)
{
    LogBuilder log(512);
    log.alloc(0x1000, 256).unused_chunk().new_chunk().alloc(0x2000, 256).unused_chunk();
    const TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    std::size_t events = 0;
    while (const Record* const record = reader.next())
        events += record->timed;
    EXPECT_EQ(events, 2u);
    EXPECT_EQ(reader.damaged_chunks(), 0u);
    EXPECT_FALSE(reader.cut());
}

struct Damage {
    const char* what;
    std::size_t field; // offset in the chunk header
    std::uint32_t value;
    std::size_t events_left;
};

class LogReaderDamage : public testing::TestWithParam<Damage> {};

TEST_P(LogReaderDamage, IsCountedAndCostsNoOtherChunk)
{
    LogBuilder log(512);
    log.at(100).alloc(0x1000, 256).thread(1).at(200).alloc(0x2000, 256);
    Bytes bytes = log.build();
    std::memcpy(bytes.data() + log.chunk_offset(0) + GetParam().field, &GetParam().value, 4);
    const TempFile file(bytes);
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    std::size_t events = 0;
    while (const Record* const record = reader.next())
        events += record->timed;
    EXPECT_EQ(events, GetParam().events_left);
    EXPECT_EQ(reader.damaged_chunks(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Headers, LogReaderDamage,
    testing::Values(Damage{"magic", offsetof(format::ChunkHeader, magic), 0x12345678, 1},
                    Damage{"index", offsetof(format::ChunkHeader, index), 77, 2},
                    Damage{"ordinal", offsetof(format::ChunkHeader, ordinal), 3, 2},
                    Damage{"committed", offsetof(format::ChunkHeader, committed), 50, 2}),
    [](const auto& test_case) { return std::string(test_case.param.what); });

TEST(LogReader, CommittedBeyondTheChunkIsDamageAndKeepsTheWholeRecords)
{
    LogBuilder log(512);
    log.at(100).alloc(0x1000, 256);
    Bytes bytes = log.build();
    const std::uint32_t huge = UINT32_MAX;
    std::memcpy(bytes.data() + log.chunk_offset(0) + offsetof(format::ChunkHeader, committed),
                &huge, 4);
    EXPECT_EQ(order(bytes), (std::vector<std::string>{"1@100/0"}));
}

TEST(LogReader, TellsThatTheFileShrankWhileItWasRead)
{
    LogBuilder log;
    for (std::uint64_t block = 1; block <= 8000; ++block)
        log.alloc(block * 0x1000, 256);
    TempFile file(log.build());
    const LogFile opened = LogFile::open(file.path());
    LogReader reader(opened);
    ASSERT_NE(reader.next(), nullptr);
    file.resize(opened.chunk_offset(0) + 1000);
    while (reader.next()) {
    }
    EXPECT_TRUE(reader.cut());
    EXPECT_EQ(reader.damaged_chunks(), 0u);
}

TEST(LogReader, AMissingChunkOfAThreadIsDamage)
{
    LogBuilder log(512);
    log.alloc(0x1000, 256).new_chunk().alloc(0x2000, 256).new_chunk().alloc(0x3000, 256);
    Bytes bytes = log.build();
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(log.chunk_offset(1)), 512,
                std::uint8_t{0});
    const TempFile file(bytes);
    const LogFile opened = LogFile::open(file.path());
    const LogReader reader(opened);
    EXPECT_EQ(reader.damaged_chunks(), 1u);
}

// A file that grows as the log of a running program does.
class GrowingLog {
public:
    explicit GrowingLog(const LogBuilder& log) : file_(log.build()) {}
    void become(const LogBuilder& log)
    {
        const Bytes bytes = log.build();
        std::fstream out(file_.path(), std::ios::in | std::ios::out | std::ios::binary);
        out.write(reinterpret_cast<const char*>(bytes.data()),
                  static_cast<std::streamsize>(bytes.size()));
    }
    std::filesystem::path path() const { return file_.path(); }

private:
    TempFile file_;
};

std::vector<std::uint64_t> times_of(LogReader& reader)
{
    std::vector<std::uint64_t> times;
    while (const Record* const record = reader.next()) {
        if (record->timed)
            times.push_back(record->ticks);
    }
    return times;
}

using Times = std::vector<std::uint64_t>;

TEST(LogReaderOfAGrowingLog, GivesOnlyWhatIsNew)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).thread(1).at(200).alloc(0x2000, 256);
    GrowingLog growing(log);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file);
    EXPECT_EQ(times_of(reader), (Times{100, 200}));
    EXPECT_EQ(times_of(reader), Times{});
    log.thread(0).at(300).alloc(0x3000, 256).thread(2).at(250).alloc(0x4000, 256);
    growing.become(log);
    EXPECT_EQ(times_of(reader), Times{});
    file.refresh();
    reader.refresh();
    EXPECT_EQ(times_of(reader), (Times{250, 300}));
    EXPECT_EQ(reader.damaged_chunks(), 0u);
    EXPECT_FALSE(reader.cut());
}

TEST(LogReaderOfAGrowingLog, HoldsBackWhatIsLaterThanAMoment)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).at(300).alloc(0x3000, 256);
    log.thread(1).at(200).alloc(0x2000, 256);
    GrowingLog growing(log);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file);
    reader.hold_back(200);
    EXPECT_EQ(times_of(reader), (Times{100, 200}));
    reader.hold_back(299);
    reader.refresh();
    EXPECT_EQ(times_of(reader), Times{});
    log.thread(1).at(250).free(0x2000).at(350).alloc(0x5000, 256);
    growing.become(log);
    file.refresh();
    reader.refresh();
    EXPECT_EQ(times_of(reader), Times{250});
    reader.hold_back(UINT64_MAX);
    reader.refresh();
    EXPECT_EQ(times_of(reader), (Times{300, 350}));
}

// What a thread wrote to its chunk before it began the next must not be passed over.
TEST(LogReaderOfAGrowingLog, ReadsAChunkToItsEndBeforeTheNext)
{
    LogBuilder log;
    log.at(100).alloc(0x1000, 256);
    GrowingLog growing(log);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file); // knows the chunk as it was
    log.at(200).alloc(0x2000, 256).new_chunk().at(300).alloc(0x3000, 256);
    growing.become(log);
    file.refresh();
    reader.refresh();
    EXPECT_EQ(times_of(reader), (Times{100, 200, 300}));
}

TEST(LogReaderOfAGrowingLog, TakesUpAChunkThatIsBegunLater)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256);
    log.thread(1).at(200).alloc(0x2000, 256);
    LogBuilder unbegun;
    unbegun.thread(0).at(100).alloc(0x1000, 256).unused_chunk();
    GrowingLog growing(unbegun);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file);
    EXPECT_EQ(times_of(reader), Times{100});
    growing.become(log);
    file.refresh();
    reader.refresh();
    EXPECT_EQ(times_of(reader), Times{200});
}

TEST(LogReaderOfAGrowingLog, ADamagedChunkStaysDamagedAndIsCountedOnce)
{
    LogBuilder log;
    log.thread(0).at(100).alloc(0x1000, 256).raw({0});
    GrowingLog growing(log);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file);
    EXPECT_EQ(times_of(reader), Times{100});
    log.thread(0).at(200).alloc(0x2000, 256).thread(1).at(300).alloc(0x3000, 256);
    growing.become(log);
    file.refresh();
    reader.refresh();
    EXPECT_EQ(times_of(reader), Times{300});
    reader.refresh();
    EXPECT_EQ(times_of(reader), Times{});
    EXPECT_EQ(reader.damaged_chunks(), 1u);
}

TEST(LogReaderOfAGrowingLog, GivesAllRecordsOnceHoweverTheyArrive)
{
    std::mt19937 random(11);
    LogBuilder log(1024);
    log.thread(0).at(1).alloc(0x1000, 256);
    GrowingLog growing(log);
    LogFile file = LogFile::open(growing.path());
    LogReader reader(file);
    Times expected{1};
    Times got = times_of(reader);
    std::uint64_t now = 1;
    for (int round = 0; round < 60; ++round) {
        for (auto events = random() % 200; events > 0; --events) {
            expected.push_back(++now);
            log.thread(static_cast<std::uint32_t>(random() % 5))
                .at(now)
                .alloc(now * 0x100, 1 + random() % 70000);
        }
        growing.become(log);
        file.refresh();
        reader.hold_back(now - std::min<std::uint64_t>(now, random() % 50));
        reader.refresh();
        const Times more = times_of(reader);
        got.insert(got.end(), more.begin(), more.end());
    }
    reader.hold_back(UINT64_MAX);
    reader.refresh();
    const Times rest = times_of(reader);
    got.insert(got.end(), rest.begin(), rest.end());
    EXPECT_EQ(got, expected);
    EXPECT_EQ(reader.damaged_chunks(), 0u);
}

} // namespace
} // namespace vramscope::report
