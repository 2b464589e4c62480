// tests/report/log/packed_log_test.cpp — a packed log is the log, or says that it is not all of it.
#include <algorithm>
#include <fcntl.h>
#include <random>
#include <string>
#include <unistd.h>
#include <zstd.h>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/log/log_packing.hpp"
#include "report/log/log_reader.hpp"
#include "report/log/packed_file.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::TempFile;

Bytes varied_log()
{
    LogBuilder log(512);
    for (std::uint64_t block = 1; block <= 900; ++block)
        log.thread(static_cast<std::uint32_t>(block % 3))
            .alloc(block * 0x1000, block * 7, 1 + block % 5);
    return log.build();
}

Bytes packed(const Bytes& log, const Packing& packing = {.level = 3, .frame_bytes = 700})
{
    const TempFile file(log);
    Bytes result;
    pack_log(LogFile::open(file.path()), packing, [&](std::string_view piece) {
        result.insert(result.end(), piece.begin(), piece.end());
    });
    return result;
}

// What of the log is read from its begin on.
Bytes readable(const LogFile& log)
{
    Bytes bytes(log.bytes());
    bytes.resize(log.read_at(0, bytes.data(), bytes.size()));
    return bytes;
}

bool begins_with(const Bytes& whole, const Bytes& part)
{
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// Whether these bytes are taken for a whole log. What is read of them is the log's.
bool is_whole(const Bytes& bytes, const Bytes& log)
{
    const TempFile file(bytes);
    try {
        const LogFile opened = LogFile::open(file.path());
        const Bytes read = readable(opened);
        EXPECT_TRUE(begins_with(log, read));
        LogReader reader(opened);
        while (reader.next()) {
        }
        return read == log && !reader.cut() && reader.damaged_chunks() == 0;
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::bad_input);
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line only";
        return false;
    }
}

void put(Bytes& bytes, std::uint32_t number)
{
    for (int shift = 0; shift < 32; shift += 8)
        bytes.push_back(static_cast<std::uint8_t>(number >> shift));
}

// One frame of so many zeros, and a table that says so many.
Bytes frame_and_table(std::size_t bytes, std::uint32_t bytes_in_table, std::uint32_t frames = 1)
{
    Bytes result(ZSTD_compressBound(bytes));
    const Bytes zeros(bytes);
    result.resize(ZSTD_compress(result.data(), result.size(), zeros.data(), bytes, 3));
    const auto packed_bytes = static_cast<std::uint32_t>(result.size());
    put(result, kSkippableMagic);
    put(result, kTableEntryBytes + kTableFootBytes);
    put(result, packed_bytes);
    put(result, bytes_in_table);
    put(result, frames);
    result.push_back(0);
    put(result, kSeekableMagic);
    return result;
}

} // namespace

TEST(PackedLog, IsReadAsTheLogIsFromAnyPlace)
{
    const Bytes log = varied_log();
    const TempFile file(packed(log));
    const LogFile opened = LogFile::open(file.path());
    ASSERT_TRUE(opened.packed());
    EXPECT_FALSE(opened.cut());
    ASSERT_GT(log.size() / 700, kFramesKept) << "some frames are unpacked twice";
    std::mt19937_64 random(1);
    for (int repeat = 0; repeat < 2000; ++repeat) {
        const std::size_t offset = random() % (log.size() + 100);
        Bytes read(random() % 3000);
        read.resize(opened.read_at(offset, read.data(), read.size()));
        const std::size_t begin = std::min(offset, log.size());
        ASSERT_TRUE(
            begins_with({log.begin() + static_cast<std::ptrdiff_t>(begin), log.end()}, read));
    }
    EXPECT_TRUE(is_whole(packed(log), log));
    EXPECT_TRUE(is_whole(packed(log, {}), log));
}

TEST(PackedLog, IsNeverWholeWhereverItIsCut)
{
    const Bytes log = varied_log();
    const Bytes whole = packed(log);
    for (std::size_t size = 0; size < whole.size(); ++size)
        ASSERT_FALSE(
            is_whole({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, log))
            << size << " of " << whole.size();
}

TEST(PackedLog, IsReadUpToWhereItIsCut)
{
    const Bytes log = varied_log();
    Bytes cut = packed(log);
    cut.resize(cut.size() * 3 / 4);
    const TempFile file(cut);
    const LogFile opened = LogFile::open(file.path());
    EXPECT_TRUE(opened.cut());
    EXPECT_GT(readable(opened).size(), log.size() / 2);
}

TEST(PackedLog, IsNeverWrongWhicheverByteIsDamaged)
{
    const Bytes log = varied_log();
    const Bytes whole = packed(log);
    std::mt19937_64 random(2);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        Bytes damaged = whole;
        damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ (1 + random() % 255));
        is_whole(damaged, log);
    }
}

TEST(PackedLog, OfAFrameThatIsLargerThanTheTableSaysIsRefused)
{
    EXPECT_FALSE(is_whole(frame_and_table(64 << 20, 4096), Bytes(4096)));
    EXPECT_FALSE(is_whole(frame_and_table(64 << 20, 64 << 20), {}));
    EXPECT_FALSE(is_whole(frame_and_table(4096, UINT32_MAX), Bytes(4096)));
}

TEST(PackedLog, OfATableThatIsLargerThanItsFileIsFollowedFrameByFrame)
{
    const TempFile file(frame_and_table(4096, 4096, UINT32_MAX));
    const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    const PackedFile opened(descriptor);
    ::close(descriptor);
    EXPECT_FALSE(opened.complete());
    EXPECT_EQ(opened.bytes(), 4096u);
}

TEST(PackedLog, OfSomethingElseIsNoLog)
{
    const TempFile file(frame_and_table(8192, 8192));
    try {
        LogFile::open(file.path());
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("is no log of vramscope"), std::string::npos);
    }
}

} // namespace vramscope::report
