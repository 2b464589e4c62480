// tests/report/zeroed_log_test.cpp — a log of which a page or a line was lost: never clean for it.
//
// What is lost are zeros: a hole that a full disk, a machine that went down or a bad copy left. Of
// real logs of all modes each page and each line of 64 bytes is lost, one at a time.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "report/error.hpp"
#include "report/findings/make_report.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

constexpr std::size_t kLine = 64;
constexpr std::size_t kPage = 4096;

// Each of all lines with scripts/test --all.
std::size_t each_line()
{
    return std::getenv("VRAMSCOPE_TEST_ALL") != nullptr ? 1 : 23;
}

Bytes unzipped(const std::filesystem::path& path)
{
    Bytes bytes;
    const gzFile file = ::gzopen(path.c_str(), "rb");
    std::uint8_t buffer[65536];
    for (int got = 0; (got = ::gzread(file, buffer, sizeof buffer)) > 0;)
        bytes.insert(bytes.end(), buffer, buffer + got);
    ::gzclose(file);
    return bytes;
}

// As a log of today's has it.
Bytes with_count(Bytes log)
{
    format::FileHeader header;
    std::memcpy(&header, log.data(), sizeof header);
    header.major = format::kMajorVersion;
    header.minor = format::kMinorVersion;
    for (std::size_t at = header.header_bytes; at < log.size(); at += header.chunk_bytes)
        header.chunks_begun += log[at] != 0;
    std::memcpy(log.data(), &header, sizeof header);
    return log;
}

Verdict verdict_of(const Bytes& log)
{
    const TempFile file(log);
    try {
        return make_report({file.path()}).verdict;
    } catch (const Error&) {
        return Verdict::inconclusive; // it is refused, which nobody takes for clean
    }
}

bool is_right(Verdict verdict, Verdict whole)
{
    return verdict == whole || verdict == Verdict::inconclusive;
}

// Where a piece of this size was lost, and the verdict was another then.
std::vector<std::size_t> wrong_without(const Bytes& log, std::size_t size, std::size_t each)
{
    const Verdict whole = verdict_of(log);
    std::vector<std::size_t> wrong;
    std::size_t number = 0;
    for (std::size_t at = 0; at < log.size(); at += size) {
        const std::size_t end = std::min(at + size, log.size());
        Bytes holed = log;
        std::fill(holed.begin() + static_cast<std::ptrdiff_t>(at),
                  holed.begin() + static_cast<std::ptrdiff_t>(end), std::uint8_t{0});
        if (holed != log && number++ % each == 0 && !is_right(verdict_of(holed), whole))
            wrong.push_back(at);
    }
    return wrong;
}

std::vector<std::filesystem::path> real_logs()
{
    std::vector<std::filesystem::path> logs;
    for (const auto& entry :
         std::filesystem::directory_iterator(VRAMSCOPE_SOURCE_DIR "/tests/golden/old_logs"))
        if (entry.path().string().ends_with(".vsl.gz"))
            logs.push_back(entry.path());
    std::sort(logs.begin(), logs.end());
    return logs;
}

TEST(ZeroedLog, NoLostPieceOfARealLogChangesTheVerdict)
{
    EXPECT_GT(real_logs().size(), 30u);
    for (const std::filesystem::path& path : real_logs()) {
        const Bytes log = unzipped(path);
        const Bytes now = with_count(log);
        for (const Bytes* const one : {&log, &now}) {
            const char* const kind = one == &log ? " as it is" : " with its chunks counted";
            EXPECT_EQ(wrong_without(*one, kPage, 1), std::vector<std::size_t>{}) << path << kind;
            EXPECT_EQ(wrong_without(*one, kLine, each_line()), std::vector<std::size_t>{})
                << path << kind;
        }
    }
}

constexpr std::uint32_t kChunk = 2048;

Bytes leak_in_the_last_chunk(std::uint16_t minor, std::uint64_t before)
{
    LogBuilder log(kChunk);
    for (std::uint64_t at = 0; at < before; ++at)
        log.alloc(0x1000, 256).free(0x1000);
    log.new_chunk();
    log.alloc(0x9000, 10 << 20);
    log.header().minor = minor;
    return log.build();
}

Bytes without_last(Bytes log, std::size_t bytes)
{
    const auto begin = log.end() - kChunk;
    std::fill(begin, begin + static_cast<std::ptrdiff_t>(bytes), std::uint8_t{0});
    return log;
}

TEST(ZeroedLog, TheLastChunkOfALaneIsMissed)
{
    for (const std::uint16_t minor : {std::uint16_t{0}, std::uint16_t{1}}) {
        const Bytes log = leak_in_the_last_chunk(minor, 600);
        EXPECT_EQ(verdict_of(log), Verdict::leaks);
        EXPECT_EQ(verdict_of(without_last(log, kChunk)), Verdict::inconclusive) << minor;
        EXPECT_EQ(verdict_of(without_last(log, 4)), Verdict::inconclusive) << minor;
    }
}

// A busy thread gets chunks in advance, and a log of before the count does not say which.
TEST(ZeroedLog, WhatAnOlderLogCannotKnowIsSaid)
{
    const Bytes old = without_last(leak_in_the_last_chunk(0, 6000), kChunk);
    const TempFile file(old);
    const Report report = make_report({file.path()});
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_EQ(report.notices.size(), 1u);
    EXPECT_NE(report.notices[0].find("1 chunk of this log is empty"), std::string::npos)
        << report.notices[0];
    const Bytes now = without_last(leak_in_the_last_chunk(1, 6000), kChunk);
    EXPECT_EQ(verdict_of(now), Verdict::inconclusive);
}

TEST(ZeroedLog, AChunkThatWasOnlyHandedOutIsNotMissed)
{
    LogBuilder log(kChunk);
    const Bytes unused = log.alloc(0x1000, 256).free(0x1000).unused_chunk().build();
    EXPECT_EQ(verdict_of(unused), Verdict::clean);
}

} // namespace
} // namespace vramscope::report
