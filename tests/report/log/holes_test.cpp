// tests/report/log/holes_test.cpp — logs that are nearly all a hole cost what is in them.
#include <algorithm>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zstd.h>

#include <gtest/gtest.h>

#include "report/findings/make_report.hpp"
#include "report/log/log_copy.hpp"
#include "report/log/log_packing.hpp"
#include "report/log/log_reader.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;

constexpr std::uint32_t kChunk = 4096;
constexpr std::uint64_t kTerabyte = std::uint64_t{1} << 40;

// A file in which every page of zeros is a hole.
class HolyFile {
public:
    explicit HolyFile(const Bytes& bytes, std::uint64_t size = 0)
        : fd_(::memfd_create("vramscope-holes", MFD_CLOEXEC))
    {
        for (std::size_t at = 0; at < bytes.size(); at += kChunk) {
            const std::size_t count = std::min<std::size_t>(kChunk, bytes.size() - at);
            const std::uint8_t* const page = bytes.data() + at;
            if (std::all_of(page, page + count, [](std::uint8_t byte) { return byte == 0; }))
                continue;
            EXPECT_EQ(::pwrite(fd_, page, count, static_cast<off_t>(at)),
                      static_cast<ssize_t>(count));
        }
        EXPECT_EQ(::ftruncate(fd_, static_cast<off_t>(std::max<std::uint64_t>(size, bytes.size()))),
                  0);
    }
    ~HolyFile() { ::close(fd_); }
    HolyFile(const HolyFile&) = delete;
    HolyFile& operator=(const HolyFile&) = delete;
    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
    int fd_;
};

LogBuilder log_with_a_hole()
{
    LogBuilder log(kChunk);
    log.alloc(0x1000, 256);
    for (int at = 0; at < 3000; ++at)
        log.unused_chunk();
    log.new_chunk().alloc(0x2000, 512);
    for (int at = 0; at < 100; ++at)
        log.unused_chunk();
    return log;
}

void expect_both(const std::filesystem::path& path)
{
    const Report report = make_report({path});
    EXPECT_EQ(report.totals.leaked_bytes, 768u);
    EXPECT_EQ(report.verdict, Verdict::leaks);
    EXPECT_EQ(report.coverage.damaged_chunks, 0u);
}

TEST(Holes, WhatIsBehindOneIsRead)
{
    expect_both(HolyFile(log_with_a_hole().build()).path());
}

TEST(Holes, WhatIsBehindZerosIsReadOfAPackedLog)
{
    const test::TempFile plain(log_with_a_hole().build());
    Bytes packed;
    pack_log(
        LogFile::open(plain.path()), {.level = 3, .frame_bytes = 65536},
        [&](std::string_view piece) { packed.insert(packed.end(), piece.begin(), piece.end()); });
    const test::TempFile file(packed);
    const LogFile log = LogFile::open(file.path());
    EXPECT_GT(log.next_chunk_with_data(100), 2900u);
    EXPECT_LE(log.next_chunk_with_data(100), 3001u);
    expect_both(file.path());
}

TEST(Holes, ATerabyteOfThemCostsNoMemory)
{
    LogBuilder builder(kChunk);
    builder.alloc(0x1000, 256).free(0x1000);
    Bytes bytes = builder.build();
    format::FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    header.chunks = static_cast<std::uint32_t>((kTerabyte - header.header_bytes) / kChunk);
    std::memcpy(bytes.data(), &header, sizeof header);
    const HolyFile file(bytes, kTerabyte);
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    EXPECT_EQ(make_report({file.path()}).verdict, Verdict::clean);
    const int copy = ::memfd_create("vramscope-copy", MFD_CLOEXEC);
    EXPECT_TRUE(copy_log(LogFile::open(file.path()), UINT64_MAX, copy));
    ::close(copy);
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024) << "KiB";
}

} // namespace
} // namespace vramscope::report
