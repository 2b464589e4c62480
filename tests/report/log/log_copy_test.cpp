// tests/report/log/log_copy_test.cpp — a copy holds what had happened up to a moment, and says so.
#include "report/log/log_copy.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "report/findings/make_report.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::TempFile;

Report report_of_copy(const test::Bytes& log, std::uint64_t ticks)
{
    const TempFile original(log);
    const TempFile copy({});
    const int descriptor = ::open(copy.path().c_str(), O_RDWR);
    EXPECT_TRUE(copy_log(LogFile::open(original.path()), ticks, descriptor));
    ::close(descriptor);
    return make_report({copy.path()});
}
Report report_of_copy(const LogBuilder& log, std::uint64_t ticks)
{
    return report_of_copy(log.build(), ticks);
}

LogBuilder two_threads()
{
    LogBuilder log;
    log.thread(0).at(2'000'000).alloc(0x1000, 100).at(4'000'000).alloc(0x2000, 1000);
    log.thread(1).at(3'000'000).alloc(0x3000, 10).at(5'000'000).free(0x1000);
    log.thread(0).new_chunk().at(6'000'000).alloc(0x4000, 10'000);
    log.unused_chunk();
    log.header().end = format::End::unknown;
    return log;
}

TEST(LogCopy, EndsAtItsMomentInEveryThread)
{
    EXPECT_EQ(report_of_copy(two_threads(), 1'999'999).totals.leaked_bytes, 0u);
    EXPECT_EQ(report_of_copy(two_threads(), 2'000'000).totals.leaked_bytes, 100u);
    EXPECT_EQ(report_of_copy(two_threads(), 4'999'999).totals.leaked_bytes, 1110u);
    EXPECT_EQ(report_of_copy(two_threads(), 5'000'000).totals.leaked_bytes, 1010u);
    EXPECT_EQ(report_of_copy(two_threads(), UINT64_MAX - 1).totals.leaked_bytes, 11'010u);
}

TEST(LogCopy, IsOfAProgramThatWasRunningAndOtherwiseWhole)
{
    const Report report = report_of_copy(two_threads(), 4'999'999);
    EXPECT_EQ(report.processes[0].end.kind, ProcessEnd::Kind::running);
    EXPECT_EQ(report.leaks.at(0).kind, LeakKind::in_use);
    EXPECT_EQ(report.reasons.size(), 1u) << testing::PrintToString(report.reasons);
    EXPECT_EQ(report.coverage.damaged_chunks, 0u);
}

TEST(LogCopy, OfAProgramThatHasEndedSaysWhatItsLogSays)
{
    LogBuilder log = two_threads();
    log.header().end = format::End::exit;
    for (const std::uint32_t lost : {0u, 1u}) {
        test::Bytes bytes = log.build();
        format::FileHeader header;
        std::memcpy(&header, bytes.data(), sizeof header);
        header.chunks_begun += lost;
        std::memcpy(bytes.data(), &header, sizeof header);
        const TempFile original(bytes);
        const Report wanted = make_report({original.path()});
        const Report report = report_of_copy(bytes, kWholeLog);
        EXPECT_EQ(report.processes[0].end.kind, wanted.processes[0].end.kind);
        EXPECT_EQ(report.coverage.damaged_chunks, wanted.coverage.damaged_chunks);
        EXPECT_EQ(report.verdict, wanted.verdict);
        EXPECT_EQ(report.reasons.size(), wanted.reasons.size());
        EXPECT_EQ(report.totals.leaked_bytes, 11'010u);
        EXPECT_NE(report.processes[0].end.kind, ProcessEnd::Kind::running);
    }
}

TEST(LogCopy, OfADamagedLogIsDamagedToo)
{
    LogBuilder log = two_threads();
    log.thread(1).raw({0});
    EXPECT_EQ(report_of_copy(log, UINT64_MAX - 1).coverage.damaged_chunks, 1u);
}

// A chunk is begun and filled after the copy looked at it, the next one before it looks at that.
TEST(LogCopy, HasNoChunkThatWasBegunAfterItsMoment)
{
    LogBuilder log;
    log.thread(0).at(2'000'000).alloc(0x1000, 100);
    log.new_chunk().at(6'000'000).alloc(0x2000, 1000);
    log.new_chunk().at(7'000'000).alloc(0x3000, 1000);
    log.header().end = format::End::unknown;
    test::Bytes bytes = log.build();
    std::memset(bytes.data() + format::kHeaderBytes + format::kChunkBytes, 0, format::kChunkBytes);
    const Report report = report_of_copy(bytes, 4'000'000);
    EXPECT_EQ(report.totals.leaked_bytes, 100u);
    EXPECT_EQ(report.coverage.damaged_chunks, 0u);
}

TEST(LogCopy, SaysThatItCouldNotBeWritten)
{
    const TempFile original(two_threads().build());
    EXPECT_FALSE(copy_log(LogFile::open(original.path()), 1, -1));
}

} // namespace
} // namespace vramscope::report
