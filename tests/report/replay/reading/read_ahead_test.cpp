// tests/report/replay/reading/read_ahead_test.cpp — a log that is read and half replayed on another thread.
#include "report/replay/reading/read_ahead.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/random_program.hpp"

namespace vramscope::report {
namespace {

using format::Tag;
using test::Bytes;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

// A log's file and its reader.
struct Log {
    explicit Log(const Bytes& log) : bytes(log), file(LogFile::open(bytes.path())), reader(file) {}
    explicit Log(const LogBuilder& log) : Log(log.build()) {}
    TempFile bytes;
    LogFile file;
    LogReader reader;
};

void define_nothing(LogTables&) {}

std::string describe(const Record& record)
{
    std::string text = std::to_string(static_cast<int>(record.tag)) + "@" +
                       std::to_string(record.ticks) + "/" + std::to_string(record.thread);
    if (record.tag == Tag::alloc || record.tag == Tag::free)
        return text + " " + std::to_string(record.address) + " " + std::to_string(record.stack);
    format::Cursor body = record.body;
    return text + " " + std::string(body.text(body.remaining()));
}

std::string describe(const PoolChange& change)
{
    std::string text = std::to_string(change.device);
    for (const std::uint64_t bytes :
         {change.bytes.requested, change.bytes.allocated, change.bytes.active,
          change.bytes.inactive_split, change.bytes.reserved})
        text += " " + std::to_string(bytes);
    return text;
}

// Each record, and what it changed in the pool, by a replay that needs no second thread.
std::vector<std::string> one_by_one(const LogBuilder& log)
{
    Log read(log);
    LogTables tables;
    SegmentReplay segments(tables);
    std::vector<std::string> lines;
    while (const Record* const record = read.reader.next()) {
        tables.define(*record);
        segments.apply(*record);
        lines.push_back(describe(*record));
        std::vector<PoolChange> changes;
        segments.take_changes(0, changes);
        for (const PoolChange& change : changes)
            lines.push_back(describe(change));
    }
    return lines;
}

std::vector<std::string> in_batches(const LogBuilder& log)
{
    Log read(log);
    ReadAhead batches(read.reader, define_nothing);
    std::vector<std::string> lines;
    while (const RecordBatch* const batch = batches.next()) {
        for (std::size_t at = 0; at < batch->records().size(); ++at) {
            lines.push_back(describe(batch->records()[at]));
            for (const PoolChange& change : batch->pool_changes())
                if (change.record == at)
                    lines.push_back(describe(change));
        }
    }
    EXPECT_EQ(batches.next(), nullptr) << "there is nothing behind the end";
    return lines;
}

// Many batches of pooled allocations, each freed at once.
LogBuilder long_log(std::uint64_t allocations)
{
    LogBuilder log;
    log.segment(0x10000000, 64_MiB);
    for (std::uint64_t at = 0; at < allocations; ++at) {
        const std::uint64_t address = 0x10000000 + at % 1000 * 4_KiB;
        log.thread(static_cast<std::uint32_t>(at % 3)).pooled(address, 4_KiB).free(address);
        if (at % 100 == 99)
            log.reusable();
    }
    return log;
}

TEST(ReadAhead, GivesEachRecordAndWhatItChanged)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const LogBuilder log = written(test::random_program(seed, {.steps = 3000}));
        const std::vector<std::string> wanted = one_by_one(log);
        EXPECT_GT(wanted.size(), 3000u);
        EXPECT_EQ(in_batches(log), wanted);
    }
}

TEST(ReadAhead, LongTextsFillABatchToo)
{
    LogBuilder log;
    for (int at = 0; at < 500; ++at)
        log.mark(std::to_string(at) + std::string(8000, 'x')).alloc(0x1000, 256).free(0x1000);
    EXPECT_EQ(in_batches(log), one_by_one(log));
}

TEST(ReadAhead, AnEmptyLogHasNoBatch)
{
    Log read{LogBuilder()};
    ReadAhead batches(read.reader, define_nothing);
    EXPECT_EQ(batches.next(), nullptr);
}

TEST(ReadAhead, AtAShortageThePoolIsAsItWasThen)
{
    constexpr std::uint64_t kShortages = 200;
    LogBuilder log;
    log.segment(0x10000000, 64_MiB);
    for (std::uint64_t at = 1; at <= kShortages; ++at)
        log.pooled(0x10000000 + at * 4_KiB, 4_KiB).out_of_memory({.requested = 8_MiB});
    Log read(log);
    ReadAhead batches(read.reader, define_nothing);
    std::uint64_t seen = 0;
    while (const RecordBatch* const batch = batches.next()) {
        if (batch->records().back().tag != Tag::out_of_memory)
            continue;
        ++seen;
        ASSERT_EQ(batches.segments().device(0)->stats.allocated_bytes.all.current, seen * 4_KiB);
    }
    EXPECT_EQ(seen, kShortages);
}

TEST(ReadAhead, GivesWhatWasReadWhenItIsStopped)
{
    const LogBuilder log = long_log(50000);
    Log read(log);
    ReadAhead batches(read.reader, define_nothing);
    std::size_t given = batches.next()->records().size();
    batches.stop();
    std::uint64_t allocated = 0;
    while (const RecordBatch* const batch = batches.next()) {
        given += batch->records().size();
        for (const PoolChange& change : batch->pool_changes())
            allocated = change.bytes.allocated;
    }
    EXPECT_LT(given, 50000u);
    EXPECT_EQ(batches.segments().device(0)->stats.allocated_bytes.all.current, allocated)
        << "the pool is no further than the records";
}

TEST(ReadAhead, MayBeLeftInTheMiddle)
{
    const LogBuilder log = long_log(50000);
    Log read(log);
    ReadAhead batches(read.reader, define_nothing);
    EXPECT_NE(batches.next(), nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(50)); // until it waits for room
}

TEST(ReadAhead, MayBeLeftBeforeItBegan)
{
    Log read(long_log(10));
    const ReadAhead batches(read.reader, define_nothing);
    EXPECT_FALSE(batches.segments().seen());
}

// A block comes and goes before the thread that defined the entry points is read.
Bytes log_with_late_definitions()
{
    LogBuilder log;
    log.thread(0).at(100).define_api("cuMemFree_v2").define_api("cuMemAlloc_v2");
    log.thread(1).segment(0x10000000, 2_MiB).pooled(0x10000000, 4_KiB).free(0x10000000);
    Bytes bytes = log.build();
    const std::uint64_t late = std::uint64_t{1} << 40;
    std::memcpy(bytes.data() + log.chunk_offset(0) + offsetof(format::ChunkHeader, base_ticks),
                &late, sizeof late);
    return bytes;
}

TEST(ReadAhead, EntryPointMayBeDefinedLaterByAnotherThread)
{
    Log read(log_with_late_definitions());
    const auto find_apis = [&](LogTables& tables) {
        LogReader(read.file).scan(Tag::api, [&](const Record& record) { tables.define(record); });
    };
    ReadAhead batches(read.reader, find_apis);
    while (batches.next()) {
    }
    const PoolStats& stats = batches.segments().device(0)->stats;
    EXPECT_EQ(stats.allocated_bytes.all.peak, 4_KiB);
    EXPECT_EQ(stats.allocated_bytes.all.current, 0u) << "its free was not understood";
}

TEST(ReadAhead, WhatTheReadingThrowsIsThrownToTheCaller)
{
    Log read(log_with_late_definitions());
    ReadAhead batches(read.reader, [](LogTables&) { throw std::runtime_error("no more"); });
    const auto read_all = [&] {
        while (batches.next()) {
        }
    };
    EXPECT_THROW(read_all(), std::runtime_error);
}

// While it lives, this process runs on one processor.
class OneProcessor {
public:
    OneProcessor()
    {
        EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
        EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    }
    OneProcessor(const OneProcessor&) = delete;
    OneProcessor& operator=(const OneProcessor&) = delete;
    ~OneProcessor() { EXPECT_EQ(::sched_setaffinity(0, sizeof before_, &before_), 0); }

private:
    cpu_set_t before_;
};

std::size_t threads_now()
{
    const std::filesystem::directory_iterator threads("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

TEST(ReadAhead, StartsNoThreadWhereThereIsOneProcessor)
{
    const OneProcessor one;
    const std::size_t before = threads_now();
    Log read(long_log(50000)); // a thread would wait for room
    ReadAhead batches(read.reader, define_nothing);
    EXPECT_NE(batches.next(), nullptr);
    EXPECT_EQ(threads_now(), before);
}

TEST(ReadAhead, DoesAllByItselfWhereNoThreadIsToBeHad)
{
    const LogBuilder log = long_log(5000);
    const std::vector<std::string> wanted = one_by_one(log);
    pthread_attr_t usual;
    ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
    pthread_attr_t impossible;
    ASSERT_EQ(::pthread_attr_init(&impossible), 0);
    ASSERT_EQ(::pthread_attr_setstacksize(&impossible, std::size_t{1} << 46), 0);
    ASSERT_EQ(::pthread_setattr_default_np(&impossible), 0);
    EXPECT_THROW(std::thread([] {}), std::system_error) << "or else this tests nothing";
    EXPECT_EQ(in_batches(log), wanted);
    EXPECT_EQ(::pthread_setattr_default_np(&usual), 0);
}

} // namespace
} // namespace vramscope::report
