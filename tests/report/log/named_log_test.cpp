// tests/report/log/named_log_test.cpp — names after the end of a log, whose bytes stay.
#include "report/log/named_log.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

constexpr std::uint64_t kBias = 0x7000'0000'0000;

// Where this function is in the file of this program.
std::uint64_t offset_here()
{
    Dl_info info{};
    EXPECT_NE(::dladdr(reinterpret_cast<const void*>(&offset_here), &info), 0);
    return reinterpret_cast<std::uint64_t>(&offset_here) -
           reinterpret_cast<std::uint64_t>(info.dli_fbase);
}

// Stacks of many addresses of this program, and one of a file that is not here.
LogBuilder stacks(std::uint32_t chunk_bytes)
{
    LogBuilder log(chunk_bytes);
    log.module(1, kBias, kBias, kBias + (64 << 20), "/proc/self/exe", "");
    log.module(2, 0, 0x1000, 0x9000, "/gone/lib.so", "");
    const std::uint64_t here = kBias + offset_here();
    for (std::uint64_t at = 0; at < 40; ++at)
        log.stack(at + 1, {here + at + 1, 0x2001 + at});
    return log.define_api("cuMemAlloc_v2").alloc(0x1000, 16, 1).thread(3).alloc(0x2000, 16, 2);
}

Bytes bytes_of(const NamedLog& named, std::size_t piece)
{
    Bytes bytes(named.bytes());
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const std::size_t wanted = std::min(piece, bytes.size() - at);
        EXPECT_EQ(named.read_at(at, &bytes[at], wanted), wanted);
    }
    return bytes;
}

LogTables tables_of(const Bytes& bytes)
{
    const TempFile file(bytes);
    const LogFile log = LogFile::open(file.path());
    EXPECT_FALSE(log.cut());
    LogReader reader(log);
    LogTables tables;
    while (const Record* const record = reader.next())
        tables.define(*record);
    EXPECT_EQ(reader.damaged_chunks(), 0u);
    EXPECT_EQ(tables.undefined(), 0u);
    return tables;
}

class NamedLogs : public testing::TestWithParam<std::uint32_t> {}; // bytes of a chunk

TEST_P(NamedLogs, HaveTheNamesOfWhatIsHereAndTheBytesOfTheLog)
{
    const Bytes plain = stacks(GetParam()).build();
    const TempFile file(plain);
    const LogFile log = LogFile::open(file.path());
    Symbolizer symbolizer;
    const NamedLog named(log, symbolizer);
    EXPECT_EQ(named.named(), 40u);
    const Bytes bytes = bytes_of(named, 1000);
    EXPECT_EQ(bytes, bytes_of(named, 1)) << "however they are read";
    ASSERT_GT(bytes.size(), plain.size());
    EXPECT_EQ(std::memcmp(&bytes[format::kHeaderBytes], &plain[format::kHeaderBytes],
                          plain.size() - format::kHeaderBytes),
              0);
    const LogTables tables = tables_of(bytes);
    const Module& program = tables.modules().front();
    for (std::uint64_t at = 0; at < 40; ++at) {
        const std::uint64_t address = tables.stack(at + 1)->addresses().at(0) - 1;
        const LoggedFrames* const frames = tables.frames(program, address - program.load_bias);
        ASSERT_NE(frames, nullptr);
        EXPECT_FALSE(frames->frames.front().function.empty());
        EXPECT_EQ(tables.frames(tables.modules().back(), 0x2000 + at), nullptr);
    }
}

TEST_P(NamedLogs, AreNotNamedTwice)
{
    const TempFile file(stacks(GetParam()).build());
    const LogFile log = LogFile::open(file.path());
    Symbolizer symbolizer;
    const Bytes once = bytes_of(NamedLog(log, symbolizer), 4096);
    const TempFile again(once);
    const LogFile named = LogFile::open(again.path());
    Symbolizer other;
    const NamedLog twice(named, other);
    EXPECT_EQ(twice.named(), 0u);
    EXPECT_EQ(bytes_of(twice, 4096), once);
}

INSTANTIATE_TEST_SUITE_P(Sizes, NamedLogs, testing::Values(256u, 4096u, 64u * 1024u));

TEST(NamedLog, OfOneThatIsCutIsAnError)
{
    const Bytes bytes = stacks(4096).build();
    TempFile file(bytes);
    file.resize(bytes.size() - 100);
    const LogFile log = LogFile::open(file.path());
    Symbolizer symbolizer;
    EXPECT_THROW(NamedLog(log, symbolizer), Error);
}

} // namespace
} // namespace vramscope::report
