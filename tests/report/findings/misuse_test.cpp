// tests/report/findings/misuse_test.cpp — refused frees: what the log proves, and what not.
#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using format::Memory;
using test::LogBuilder;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;

using test::program_with_stacks;

std::uint64_t offset_of_call(const std::optional<TimedCall>& call)
{
    return call && !call->stack.empty() ? call->stack.front().offset : 0;
}

// The only misuse in the log.
Misuse misuse_of(const LogBuilder& log)
{
    const Report report = report_of(log);
    EXPECT_EQ(report.misuse.size(), 1u);
    EXPECT_TRUE(report.failed_calls.empty());
    return report.misuse.empty() ? Misuse{} : report.misuse[0];
}

TEST(Misuse, DoubleFreeHasTheStacksOfAllThreeCalls)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 1_MiB, 1).free(0x1000, "cuMemFreeAsync", 2);
    log.failed_free(0x1000, 3).failed_free(0x1000, 3);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.kind, MisuseKind::double_free);
    EXPECT_EQ(misuse.calls, 2u);
    EXPECT_EQ(misuse.address, 0x1000u);
    EXPECT_EQ(misuse.memory, Memory::device);
    EXPECT_EQ(misuse.bytes, 1_MiB);
    EXPECT_EQ(misuse.result, 1u);
    EXPECT_EQ(offset_of_call(misuse.allocation), 0x1000u);
    EXPECT_EQ(offset_of_call(misuse.ended), 0x2000u);
    EXPECT_EQ(misuse.ended->api, "cuMemFreeAsync");
    EXPECT_EQ(offset_of_call(misuse.call), 0x3000u);
    EXPECT_LT(misuse.call.at_ns, misuse.last_ns);
}

TEST(Misuse, IsOfTheLastTenantOfAnAddress)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 1_MiB, 1).free(0x1000, "cuMemFree_v2", 2);
    log.alloc(0x1000, 2_MiB, 4).free(0x1000, "cuMemFree_v2", 5).failed_free(0x1000, 3);
    log.alloc(0x1000, 2_MiB, 6).free(0x1000, "cuMemFree_v2", 7);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.bytes, 2_MiB);
    EXPECT_EQ(offset_of_call(misuse.allocation), 0x4000u);
    EXPECT_EQ(offset_of_call(misuse.ended), 0x5000u);
}

TEST(Misuse, FreeOfWhatNobodyAllocated)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 256, 1).free(0x1000).failed_free(0x9000, 3);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.kind, MisuseKind::never_allocated);
    EXPECT_FALSE(misuse.allocation || misuse.ended);
    EXPECT_EQ(misuse.memory, Memory::none);
}

TEST(Misuse, IsNotKnownWhereEventsAreMissing)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 256, 1).failed_free(0x9000, 3);
    log.header().lost[0] = 1;
    EXPECT_EQ(misuse_of(log).kind, MisuseKind::unknown);
}

TEST(Misuse, FreeAfterTheContextIsGone)
{
    LogBuilder log = program_with_stacks();
    log.place({.context = 1}).alloc(0x1000, 1_MiB, 1).context_gone(1).failed_free(0x1000, 3);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.kind, MisuseKind::after_context);
    EXPECT_EQ(offset_of_call(misuse.allocation), 0x1000u);
    ASSERT_TRUE(misuse.ended);
    EXPECT_EQ(misuse.ended->api, "cuCtxDestroy");
    EXPECT_TRUE(misuse.ended->stack.empty()) << "a log before format 3.2 has none";
}

TEST(Misuse, FreeAfterTheContextIsGoneNamesTheCallThatEndedIt)
{
    LogBuilder log = program_with_stacks();
    log.place({.context = 1}).alloc(0x1000, 1_MiB, 1).context_gone(1, 2).failed_free(0x1000, 3);
    EXPECT_EQ(offset_of_call(misuse_of(log).ended), 0x2000u);
}

TEST(Misuse, WhatSurvivesItsContextIsNotFreedAfterIt)
{
    LogBuilder log = program_with_stacks();
    log.place({.context = 1}).alloc(0x1000, 1_MiB, 1, "cuMemAllocAsync").context_gone(1);
    log.failed_free(0x1000, 3);
    const Report report = report_of(log);
    EXPECT_TRUE(report.misuse.empty()) << "the block is there: the driver had another reason";
    ASSERT_EQ(report.failed_calls.size(), 1u);
    EXPECT_EQ(report.failed_calls[0].entry_point, "cuMemFree_v2");
}

struct Mixed {
    const char* what;
    const char* allocates;
    const char* frees;
    Memory memory;
};
class WrongApi : public testing::TestWithParam<Mixed> {};

TEST_P(WrongApi, IsToldWithTheBlockThatItMet)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x10000, 4_KiB, 1, GetParam().allocates).failed_free(0x10000, 3, GetParam().frees);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.kind, MisuseKind::wrong_api);
    EXPECT_EQ(misuse.memory, GetParam().memory);
    EXPECT_EQ(offset_of_call(misuse.allocation), 0x1000u);
    EXPECT_FALSE(misuse.ended);
}

INSTANTIATE_TEST_SUITE_P(
    Families, WrongApi,
    testing::Values(
        Mixed{"DeviceByFreeHost", "cuMemAlloc_v2", "cuMemFreeHost", Memory::device},
        Mixed{"PinnedByFree", "cuMemHostAlloc", "cuMemFree_v2", Memory::pinned},
        Mixed{"PinnedByFreeAsync", "cuMemHostAlloc", "cuMemFreeAsync", Memory::pinned},
        Mixed{"RegisteredByFreeHost", "cuMemHostRegister_v2", "cuMemFreeHost", Memory::registered},
        Mixed{"MipmapByArrayDestroy", "cuMipmappedArrayCreate", "cuArrayDestroy", Memory::mipmap},
        Mixed{"IpcByFree", "cuIpcOpenMemHandle_v2", "cuMemFree_v2", Memory::ipc}),
    [](const auto& test_case) { return std::string(test_case.param.what); });

TEST(Misuse, InteriorPointerNamesTheBlockAndTheOffset)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x10000, 4_KiB, 1).failed_free(0x10100, 3).free(0x10000);
    const Misuse misuse = misuse_of(log);
    EXPECT_EQ(misuse.kind, MisuseKind::interior_pointer);
    EXPECT_EQ(misuse.offset, 0x100u);
    EXPECT_EQ(misuse.bytes, 4_KiB);
}

TEST(Misuse, APieceOfAnOldBlockIsRememberedBesideANewOne)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x10000, 4_KiB, 1).free(0x10000, "cuMemFree_v2", 2).alloc(0x10000, 256, 4);
    log.failed_free(0x10200, 3).failed_free(0x10010, 5).free(0x10000);
    const Report report = report_of(log);
    ASSERT_EQ(report.misuse.size(), 2u);
    EXPECT_EQ(offset_of_call(report.misuse[0].allocation), 0x1000u);
    EXPECT_EQ(offset_of_call(report.misuse[0].ended), 0x2000u);
    EXPECT_EQ(report.misuse[0].offset, 0x200u);
    EXPECT_EQ(offset_of_call(report.misuse[1].allocation), 0x4000u);
    EXPECT_FALSE(report.misuse[1].ended);
}

TEST(Misuse, MappingsAndHandlesHaveTheirOwnPast)
{
    LogBuilder log = program_with_stacks();
    log.alloc(5, 2_MiB, 1, "cuMemCreate").map(0x8000, 2_MiB, 5).unmap(0x8000, 2_MiB);
    log.free(5, "cuMemRelease", 2);
    log.failed_free(0x8000, 3, "cuMemUnmap").failed_free(5, 4, "cuMemRelease");
    const Report report = report_of(log);
    ASSERT_EQ(report.misuse.size(), 2u);
    EXPECT_EQ(report.misuse[0].kind, MisuseKind::double_free);
    EXPECT_EQ(report.misuse[0].ended->api, "cuMemUnmap");
    EXPECT_EQ(report.misuse[1].kind, MisuseKind::double_free);
    EXPECT_EQ(offset_of_call(report.misuse[1].ended), 0x2000u);
}

TEST(Misuse, ARetainedHandleMayBeReleasedTwice)
{
    LogBuilder log = program_with_stacks();
    log.alloc(5, 2_MiB, 1, "cuMemCreate").retain(5).free(5, "cuMemRelease", 2);
    log.free(5, "cuMemRelease", 4).failed_free(5, 3, "cuMemRelease");
    EXPECT_EQ(offset_of_call(misuse_of(log).ended), 0x4000u) << "the last one ended it";
}

TEST(Misuse, IsNoLeakAndNoDoubt)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 1_MiB, 1).free(0x1000).failed_free(0x1000, 3);
    EXPECT_EQ(report_of(log).verdict, Verdict::clean);
}

TEST(Misuse, EveryRefusedCallIsEitherMisuseOrAFailedCall)
{
    LogBuilder log = program_with_stacks();
    log.alloc(0x1000, 1_MiB, 1).failed_free(0x1000, 3, "cuMemFree_v2", 700).failed(2, 4096);
    log.failed_free(0x1100, 3).failed_free(0x77, 4).failed(2, 4096).failed_free(0, 4);
    const Report report = report_of(log);
    std::uint64_t calls = 0;
    for (const Misuse& misuse : report.misuse)
        calls += misuse.calls;
    for (const FailedCall& failed : report.failed_calls)
        calls += failed.calls;
    EXPECT_EQ(calls, report.coverage.failed_calls);
    EXPECT_EQ(report.misuse.size(), 2u);
    EXPECT_EQ(report.failed_calls.size(), 3u);
}

TEST(FailedCalls, AreSummedUpByStack)
{
    LogBuilder log = program_with_stacks();
    log.failed(2, 4_KiB, "cuMemAlloc_v2", 1).failed(2, 8_KiB, "cuMemAlloc_v2", 1);
    log.failed(2, 1_KiB, "cuMemHostAlloc", 1).failed(2, 1_KiB, "cuMemAlloc_v2", 2);
    const Report report = report_of(log);
    ASSERT_EQ(report.failed_calls.size(), 3u);
    EXPECT_EQ(report.failed_calls[0].calls, 2u);
    EXPECT_EQ(report.failed_calls[0].bytes, 12_KiB);
    EXPECT_EQ(report.failed_calls[0].stack.at(0).offset, 0x1000u);
}

} // namespace
} // namespace vramscope::report
