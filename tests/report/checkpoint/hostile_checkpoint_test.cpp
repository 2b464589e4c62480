// tests/report/checkpoint/hostile_checkpoint_test.cpp — a checkpoint that is damaged, not published
// or made up.
#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "report/checkpoint/collected.hpp"
#include "report/error.hpp"
#include "report/findings/make_report.hpp"
#include "report/fnv1a.hpp"
#include "tests/support/collected_log.hpp"
#include "tracker/log/outside_checkpoint.hpp"

namespace vramscope::report {
namespace {

using test::full_report_of;
using test::refusal_of;

struct HostileCheckpoint : testing::Test {
    HostileCheckpoint()
    {
        std::mt19937 random(7);
        log.play(test::program_to_collect(7), random);
    }
    test::CollectedLog log;
};

TEST_F(HostileCheckpoint, AWrongCheckpointIsRefusedInOneLine)
{
    const format::FileHeader header = log.read_header();
    const auto first = static_cast<std::uint32_t>(header.checkpoint) - 1;
    const std::uint64_t offset = format::kHeaderBytes + std::uint64_t{first} * format::kChunkBytes;
    const std::uint8_t other = 0xff;
    log.write(&other, 1, offset + sizeof(format::CheckpointChunk) + 200);
    EXPECT_NE(refusal_of(log.path()).find("damaged"), std::string::npos);
    log.write(&other, 1, offset);
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
    format::FileHeader none = header;
    none.checkpoint = 0; // chunks are missing then
    log.write(&none, sizeof none, 0);
    EXPECT_NE(full_report_of(log.path()).find("\"verdict\": \"inconclusive\""), std::string::npos);
    none.checkpoint = UINT64_MAX;
    log.write(&none, sizeof none, 0);
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
}

// Whatever is killed in between: what is written into the other row is not looked at.
TEST_F(HostileCheckpoint, ACheckpointThatIsNotPublishedIsNotLookedAt)
{
    const std::string before = full_report_of(log.path());
    const format::FileHeader header = log.read_header();
    ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), "half of one"));
    EXPECT_NE(log.read_header().checkpoint, header.checkpoint);
    format::FileHeader killed = log.read_header();
    killed.checkpoint = header.checkpoint;
    log.write(&killed, sizeof killed, 0);
    EXPECT_EQ(full_report_of(log.path()), before);
}

// Whoever makes one up can make its checksum too: FNV-1a, at byte 80, of all behind it. It is
// refused, or read on without a fault.
TEST_F(HostileCheckpoint, ACheckpointThatIsMadeToHurtIsRefusedOrReadOn)
{
    const std::string checkpoint =
        read_collected_checkpoint(LogFile::open(log.path(), LogFile::Collected::taken));
    std::mt19937 random(1);
    for (std::size_t at = 88 + random() % 401; at < checkpoint.size(); at += 1 + random() % 401) {
        std::string hostile = checkpoint;
        const std::uint8_t bytes[] = {0, 1, 0x7f, 0xff, static_cast<std::uint8_t>(random())};
        hostile[at] = static_cast<char>(bytes[random() % std::size(bytes)]);
        Fnv1a sum;
        sum.add(std::string_view(hostile).substr(88));
        const std::uint64_t value = sum.value();
        std::memcpy(&hostile[80], &value, sizeof value);
        ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), hostile));
        try {
            make_report({log.path()});
        } catch (const Error& error) {
            EXPECT_EQ(std::count(error.what(), error.what() + std::strlen(error.what()), '\n'), 0);
        }
    }
}

// The head of a frame of zstd that says how much it holds.
TEST_F(HostileCheckpoint, AFewBytesNeedNoMemory)
{
    std::string bytes("\x28\xb5\x2f\xfd\xe0", 5);
    bytes += std::string("\0\0\0\0\0\1\0\0", 8); // a tebibyte
    ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), bytes));
    EXPECT_NE(refusal_of(log.path()).find("its checkpoint is damaged"), std::string::npos);
}

TEST_F(HostileCheckpoint, RowsAreUsedInTurn)
{
    const std::uint32_t chunks = log.read_header().chunks;
    const std::uint64_t bytes = log.bytes_on_disk();
    for (int times = 0; times < 100; ++times)
        ASSERT_TRUE(log::publish_checkpoint(log.descriptor(), "a checkpoint"));
    EXPECT_EQ(log.read_header().chunks, chunks);
    EXPECT_EQ(log.bytes_on_disk(), bytes);
}

} // namespace
} // namespace vramscope::report
