// tests/report/hostile_log_test.cpp — whole reports of logs that are cut, damaged or made to hurt.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sstream>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/text/views.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

// A sanitizer makes a report take ten times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kEachOfAll = 5;
#else
constexpr std::size_t kEachOfAll = 1;
#endif

// scripts/test --all makes twice as many damaged logs.
bool all_of_them()
{
    return std::getenv("VRAMSCOPE_TEST_ALL") != nullptr;
}

// Every how many bytes one is overwritten: an odd number, since every eighth is treated otherwise.
std::size_t each_byte()
{
    return all_of_them() ? kEachOfAll : 2 * kEachOfAll + 1;
}

// Every kind of record, several threads, several chunks each.
LogBuilder varied_log(std::uint32_t chunk_bytes)
{
    LogBuilder log(chunk_bytes);
    log.info("program", "train").info("command", "./train").device(0, 24ull << 30, "GPU");
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "\x01\x02\x03");
    log.stack(1, {0x401000, 0x402000}).stack(2, {0x403000}, true).context(1);
    for (std::uint64_t round = 0; round < 12; ++round) {
        log.thread(static_cast<std::uint32_t>(round % 3))
            .thread_name(100 + static_cast<std::uint32_t>(round % 3), "worker");
        log.place({.context = 1, .device = 0, .stream = round, .pool = 7});
        log.push("step").alloc(0x10000 + round * 0x1000, 1000 + round, 1 + round % 2).pop();
        if (round % 2 == 0)
            log.free(0x10000 + round * 0x1000);
        log.alloc(round + 1, 4096, 2, "cuMemCreate").map(0x90000 + round * 4096, 4096, round + 1);
        log.retain(round + 1).free(round + 1, "cuMemRelease").unmap(0x90000 + round * 4096, 4096);
        log.failed(2, 1 << 20).mark("end of step").device_memory(1 << 20, 1 << 30);
    }
    log.segment(0x700000, 1 << 16).pooled(0x700000, 4000, 96, 1).free(0x700000).reusable();
    log.out_of_memory({.requested = 1 << 20, .free = 1 << 10, .total = 1 << 30});
    log.context_gone(1).module_gone(1);
    return log;
}

// Prints all of a report, as an analyst's machine would do with the file.
std::string whole_report(const TempFile& file, bool with_exports = true)
{
    std::ostringstream out;
    const Report report = make_report({file.path()});
    for (const auto write : {write_report, write_peak, write_fragmentation, write_timeline})
        write(out, report, {});
    write_json(out, report);
    if (!with_exports)
        return out.str();
    export_events(file.path(), [&](std::string_view piece) { out << piece; });
    export_heaptrack(file.path(), [&](std::string_view piece) { out << piece; });
    export_pprof(file.path(), [](std::string_view) {}); // no text
    return out.str();
}

std::uint64_t events_of(const TempFile& file)
{
    return make_report({file.path()}).coverage.events;
}

TEST(HostileLog, CutAtEveryByteGivesEveryWholeRecordAndNeverFails)
{
    const LogBuilder log = varied_log(512);
    TempFile file(log.build());
    const std::size_t size = log.chunk_offset(log.chunks());
    std::uint64_t events = events_of(file);
    EXPECT_GT(events, 100u);
    for (std::size_t bytes = size - 1; bytes >= format::kHeaderBytes; --bytes) {
        file.resize(bytes);
        const Report report = make_report({file.path()});
        ASSERT_TRUE(report.coverage.truncated) << bytes;
        ASSERT_EQ(report.verdict, Verdict::inconclusive) << bytes;
        ASSERT_EQ(report.coverage.damaged_chunks, 0u) << "cut is not damage, at " << bytes;
        // One byte less costs at most one record.
        ASSERT_LE(report.coverage.events, events) << bytes;
        ASSERT_LE(events - report.coverage.events, 1u) << bytes;
        events = report.coverage.events;
    }
    EXPECT_EQ(events, 0u);
    for (std::size_t bytes = 0; bytes < format::kHeaderBytes; ++bytes) {
        file.resize(bytes);
        ASSERT_THROW(make_report({file.path()}), Error) << bytes;
    }
}

TEST(HostileLog, EveryByteOverwrittenInTurnNeverFails)
{
    const LogBuilder log = varied_log(512);
    const Bytes original = log.build();
    TempFile file(original);
    for (std::size_t at = 0; at < original.size(); at += each_byte()) {
        const bool unused_header =
            at >= sizeof(format::FileHeader) - sizeof(format::FileHeader::reserved) &&
            at < format::kHeaderBytes;
        if (unused_header)
            continue;
        for (const std::uint8_t byte :
             {std::uint8_t{0xff}, static_cast<std::uint8_t>(original[at] ^ 1)}) {
            file.overwrite(at, byte);
            try {
                whole_report(file, at % 8 == 0); // they take long
            } catch (const Error& error) {
                ASSERT_LT(at, format::kHeaderBytes) << error.what();
            }
        }
        file.overwrite(at, original[at]);
    }
}

TEST(HostileLog, RandomPayloadsNeverFail)
{
    std::mt19937 random(20);
    const int rounds = all_of_them() ? 300 : 150;
    for (int round = 0; round < rounds; ++round) {
        LogBuilder log(2048);
        log.define_api("cuMemAlloc_v2").define_api("cuMemFree_v2");
        for (int record = 0; record < 20; ++record) {
            Bytes body(random() % 60);
            for (std::uint8_t& byte : body)
                byte = static_cast<std::uint8_t>(random());
            log.record(static_cast<std::uint8_t>(0x20 + random() % 0x12), body);
        }
        const TempFile file(log.build());
        EXPECT_FALSE(whole_report(file).empty());
    }
}

TEST(HostileLog, HugeNumbersInHotRecordsAreOnlyNumbers)
{
    LogBuilder log;
    log.alloc(UINT64_MAX, UINT64_MAX, UINT64_MAX)
        .alloc(UINT64_MAX - 1, UINT64_MAX, 1)
        .at(UINT64_MAX);
    log.free(UINT64_MAX).at(0).free(0);
    log.place({.context = UINT64_MAX,
               .device = INT64_MIN,
               .stream = UINT64_MAX,
               .pool = 1,
               .capturing = true});
    log.alloc(1, 1).context_gone(UINT64_MAX);
    const TempFile file(log.build());
    EXPECT_FALSE(whole_report(file).empty());
}

// The report of a small file must need little memory, whatever lengths, counts and numbers the file
// holds in its records.
TEST(HostileLog, SmallFileCannotAskForMuchMemory)
{
    LogBuilder log(4096);
    log.stack(1, {1, 2, 3});
    for (std::uint32_t thread = 0; thread < 200; ++thread)
        log.thread(thread * 20'000'000).push("range").alloc(thread * 256, 1ull << 60, 1);
    Bytes bytes = log.build();
    format::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.chunks = UINT32_MAX;
    header.threads = UINT32_MAX;
    std::memcpy(bytes.data(), &header, sizeof header);
    const TempFile file(bytes);
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    EXPECT_FALSE(whole_report(file).empty());
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200 * 1024) << "KiB";
}

TEST(HostileLog, NamesCannotCommandATerminal)
{
    const std::string evil = "\x1b]0;owned\x07\x1b[2J\xc2\x9b"
                             "31m\r\n";
    LogBuilder log;
    log.info("program", evil).info("command", evil).device(0, 1, evil).thread_name(1, evil);
    log.module(1, 0, 0x1000, 0x2000, "/x/" + evil, "id").stack(1, {0x1500});
    log.push(evil).alloc(0x1000, 1, 1);
    const TempFile file(log.build());
    const std::string text = whole_report(file);
    for (const char c : text)
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c != 0x7f)) << static_cast<int>(c);
    EXPECT_EQ(text.find("owned\x07"), std::string::npos);
    EXPECT_NE(text.find("owned"), std::string::npos);
}

TEST(HostileLog, GrowingLogOfALivingProcessIsReadable)
{
    // A reader sees this while the program writes: chunks are handed out, not all are begun, and
    // none of them is full.
    LogBuilder log(4096);
    log.alloc(0x1000, 256, 1).thread(1).alloc(0x2000, 256, 1).unused_chunk();
    log.header().end = format::End::unknown;
    const TempFile file(log.build());
    const Report report = make_report({file.path()});
    EXPECT_EQ(report.coverage.allocations, 2u);
    EXPECT_EQ(report.coverage.damaged_chunks, 0u);
    EXPECT_FALSE(report.coverage.truncated);
}

} // namespace
} // namespace vramscope::report
