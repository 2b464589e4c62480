// tests/report/findings/damage_test.cpp — memory written while free, or beyond a block.
#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;

LogBuilder damaged_program()
{
    return test::program_with_stacks().segment(0x100000, 1 << 20);
}

std::uint64_t offset_of(const std::optional<TimedCall>& call)
{
    return call && !call->stack.empty() ? call->stack.front().offset : 0;
}

TEST(Damage, OfFreedMemoryHasTheStacksOfAllocationAndFreeAndWhereItWasNoticed)
{
    LogBuilder log = damaged_program();
    log.pooled(0x100000, 1000, 24, 1).free(0x100000, "cuMemFree_v2", 2);
    log.damaged(format::Damage::use_after_free, 0x100000, 16, 8, 3).pooled(0x100000, 900, 0, 4);
    const Report report = report_of(log);
    ASSERT_EQ(report.damage.size(), 1u);
    const Damage& damage = report.damage[0];
    EXPECT_EQ(damage.kind, format::Damage::use_after_free);
    EXPECT_EQ(damage.address, 0x100000u);
    EXPECT_EQ(damage.offset, 16);
    EXPECT_EQ(damage.wrong_bytes, 8u);
    EXPECT_EQ(damage.block_bytes, 1000u);
    EXPECT_EQ(offset_of(damage.allocation), 0x1000u);
    EXPECT_EQ(offset_of(damage.ended), 0x2000u);
    EXPECT_EQ(damage.ended->api, "cuMemFree");
    EXPECT_EQ(damage.noticed.stack.at(0).offset, 0x3000u);
    EXPECT_EQ(damage.noticed.entry_point, ""); // not that of the first row of the table
}

TEST(Damage, OfSplitMemoryIsOfTheOldBlockThatHadTheByte)
{
    LogBuilder log = damaged_program();
    log.pooled(0x100000, 1000, 24, 1).pooled(0x100400, 1000, 24, 2);
    log.free(0x100000).free(0x100400, "cuMemFree_v2", 3);
    log.damaged(format::Damage::use_after_free, 0x100000, 1040, 8, 4).pooled(0x100000, 2000);
    const Report report = report_of(log);
    ASSERT_EQ(report.damage.size(), 1u);
    const Damage& damage = report.damage[0];
    EXPECT_EQ(damage.address, 0x100400u);
    EXPECT_EQ(damage.offset, 16);
    EXPECT_EQ(offset_of(damage.allocation), 0x2000u);
    EXPECT_EQ(offset_of(damage.ended), 0x3000u);
}

TEST(Damage, OfALiveBlockHasNoFree)
{
    LogBuilder log = damaged_program();
    log.pooled(0x100000, 1000, 24, 1).damaged(format::Damage::underrun, 0x100000, -4, 2, 3);
    log.free(0x100000);
    const Report report = report_of(log);
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_EQ(report.damage[0].offset, -4);
    EXPECT_EQ(offset_of(report.damage[0].allocation), 0x1000u);
    EXPECT_FALSE(report.damage[0].ended);
}

TEST(Damage, WithTheSameStacksIsOneRow)
{
    LogBuilder log = damaged_program();
    for (std::uint64_t at = 0; at < 5; ++at) {
        const std::uint64_t address = 0x100000 + at * 1024;
        log.pooled(address, 1000, 24, 1);
        log.damaged(format::Damage::overrun, address, 1000, 4, at < 4 ? 3 : 5);
    }
    const Report report = report_of(log);
    ASSERT_EQ(report.damage.size(), 2u);
    EXPECT_EQ(report.damage[0].times, 4u);
    EXPECT_EQ(report.damage[0].address, 0x100000u);
    EXPECT_EQ(report.damage[1].times, 1u);
}

TEST(Damage, OfABlockThatTheLogDoesNotKnowIsToldAllTheSame)
{
    LogBuilder log = damaged_program();
    log.damaged(format::Damage::overrun, 0x100000, 1000, 4).damaged(format::Damage{9}, 1, 1, 1);
    const Report report = report_of(log);
    ASSERT_EQ(report.damage.size(), 1u);
    EXPECT_FALSE(report.damage[0].allocation);
    EXPECT_EQ(report.damage[0].block_bytes, 0u);
}

} // namespace
} // namespace vramscope::report
