// tests/report/findings/leaks_test.cpp — from lost blocks to rows: kinds, grouping, hints.
#include <sstream>

#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "report/findings/make_report.hpp"
#include "report/text/views.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::TempFile;
using test::operator""_MiB;

// A log with one module that is not there any more: frames are module+offset.
LogBuilder program()
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
    log.stack(1, {0x401001, 0x409001})
        .stack(2, {0x402001, 0x409001})
        .stack(3, {0x403001, 0x409001});
    log.place({.context = 1, .device = 0});
    return log;
}

std::vector<Leak> leaks_of(const LogBuilder& log)
{
    const TempFile file(log.build());
    return make_report({file.path()}).leaks;
}

TEST(Leaks, AreSortedBySizeWithTheirNumbers)
{
    LogBuilder log = program();
    log.at(2'000'000)
        .alloc(0x1000, 1_MiB, 1)
        .alloc(0x2000, 3_MiB, 2)
        .at(5'000'000)
        .alloc(0x3000, 3_MiB, 2);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 2u);
    EXPECT_EQ(leaks[0].bytes, 6_MiB);
    EXPECT_EQ(leaks[0].blocks, 2u);
    EXPECT_EQ(leaks[0].api, "cuMemAlloc");
    EXPECT_EQ(leaks[0].entry_point, "cuMemAlloc_v2");
    EXPECT_EQ(leaks[0].device, 0);
    EXPECT_EQ(leaks[0].kind, LeakKind::at_exit);
    EXPECT_EQ(leaks[0].first_ns, 2'001'000u - 1'000'000u);
    EXPECT_EQ(leaks[0].last_ns, 4'000'000u);
    EXPECT_EQ(leaks[1].bytes, 1_MiB);
}

TEST(Leaks, FramesOfAModuleThatIsGoneAreModuleAndOffset)
{
    const std::vector<Leak> leaks = leaks_of(program().alloc(0x1000, 1, 1));
    ASSERT_EQ(leaks.at(0).stack.size(), 2u);
    EXPECT_EQ(leaks[0].stack[0].function, "");
    EXPECT_EQ(leaks[0].stack[0].module, "/gone/train");
    EXPECT_EQ(leaks[0].stack[0].offset, 0x1000u) << "of the call, not of the return address";
}

TEST(Leaks, StacksOfTheSamePlacesAreOneRow)
{
    LogBuilder log = program();
    log.stack(10, {0x401001, 0x409001}).alloc(0x1000, 1, 1).alloc(0x2000, 1, 10);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].blocks, 2u);
}

TEST(Leaks, DifferentDevicesAndMemoriesAreDifferentRows)
{
    LogBuilder log = program();
    log.alloc(0x1000, 1, 1).alloc(0x2000, 2, 1, "cuMemAllocManaged");
    log.place({.context = 2, .device = 1}).alloc(0x3000, 4, 1);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 3u);
    EXPECT_EQ(leaks[0].device, 1);
    EXPECT_EQ(leaks[1].memory, format::Memory::managed);
}

TEST(Leaks, AddressWithoutAModuleIsShownAsItIs)
{
    const std::vector<Leak> leaks = leaks_of(program().stack(9, {0x999001}).alloc(0x1000, 1, 9));
    ASSERT_EQ(leaks.at(0).stack.size(), 1u);
    EXPECT_EQ(leaks[0].stack[0].module, "");
    EXPECT_EQ(leaks[0].stack[0].offset, 0x999000u);
    EXPECT_EQ(leaks[0].cut, StackCut::no_module);
}

TEST(Leaks, AStackIsOnlyCalledCutWhereTheFileOfItsEndTellsIt)
{
    EXPECT_EQ(leaks_of(program().alloc(0x1000, 1, 1)).at(0).cut, StackCut::none) << "file is gone";
}

TEST(Leaks, OfTwoLibrariesThatHadOnePathAreTwoRowsThatTellTheirBuilds)
{
    LogBuilder log = program();
    log.stack(20, {0x701001, 0x409001}).stack(21, {0x701001, 0x409001});
    log.module(2, 0x700000, 0x700000, 0x710000, "/gone/plugin.so", "\x01\x02");
    log.alloc(0x1000, 1, 20).module_gone(2);
    log.module(3, 0x700000, 0x700000, 0x710000, "/gone/plugin.so", "\x01\x03");
    log.alloc(0x2000, 2, 21).alloc(0x3000, 4, 1);
    const TempFile file(log.build());
    const Report report = make_report({file.path()});
    ASSERT_EQ(report.leaks.size(), 3u);
    EXPECT_EQ(report.leaks[1].stack[0].build_id, "\x01\x03");
    EXPECT_EQ(report.leaks[2].stack[0].build_id, "\x01\x02");
    std::ostringstream out;
    write_leaks(out, report);
    for (const char* words : {"plugin.so with build-id 0102", "plugin.so with build-id 0103"})
        EXPECT_NE(out.str().find(words), std::string::npos) << out.str();
    EXPECT_EQ(out.str().find("train with build-id"), std::string::npos) << "there was but one";
}

TEST(Leaks, MissingStackGivesARowWithoutFrames)
{
    const std::vector<Leak> leaks = leaks_of(program().alloc(0x1000, 1, 0).alloc(0x2000, 1, 77));
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_TRUE(leaks[0].stack.empty());
    EXPECT_EQ(leaks[0].blocks, 2u);
}

TEST(Leaks, KindTellsResetFromExit)
{
    LogBuilder log = program();
    log.alloc(0x1000, 1, 1)
        .context_gone(1)
        .place({.context = 2})
        .alloc(0x2000, 2, 2)
        .context_gone(2);
    log.header().exit_began_ticks = log.now() - 1000;
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 2u);
    EXPECT_EQ(leaks[0].kind, LeakKind::at_exit) << "its context was destroyed by the exit";
    EXPECT_EQ(leaks[1].kind, LeakKind::at_reset);
}

TEST(Leaks, KindOfAKilledProgramIsInUseAtCrash)
{
    LogBuilder log = program();
    log.alloc(0x1000, 1, 1).context_gone(1).place({.context = 2}).alloc(0x2000, 2, 2);
    log.header().end = format::End::unknown;
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 2u);
    EXPECT_EQ(leaks[0].kind, LeakKind::at_crash);
    EXPECT_EQ(leaks[1].kind, LeakKind::at_reset) << "this one is sure";
}

TEST(Leaks, ReservationsOfAddressesAreNoLeaks)
{
    EXPECT_TRUE(leaks_of(program().alloc(0x1000, 1, 1, "cuMemAddressReserve")).empty());
}

TEST(Leaks, PatternTellsTheLoopFromTheStart)
{
    LogBuilder log = program();
    log.at(1'001'000)
        .alloc(0x1000, 100, 1)
        .alloc(0x2000, 10, 2)
        .alloc(0x3000, 10, 2)
        .alloc(0x4000, 10, 2);
    for (std::uint64_t step = 0; step < 5; ++step)
        log.at(2'000'000 + step * 1'000'000).alloc(0x10000 + step * 0x1000, 1, 3);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 3u);
    EXPECT_EQ(leaks[0].pattern, Pattern::once);
    EXPECT_EQ(leaks[1].pattern, Pattern::several);
    EXPECT_EQ(leaks[2].pattern, Pattern::repeated);
}

TEST(Leaks, ThreadsArePresentWithTheirNames)
{
    LogBuilder log = program();
    log.thread_name(4242, "train").alloc(0x1000, 1, 1);
    log.thread(1)
        .thread_name(4243, "loader")
        .place({.context = 1, .device = 0})
        .alloc(0x2000, 1, 1);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].thread_count, 2u);
    ASSERT_EQ(leaks[0].threads.size(), 2u);
    EXPECT_EQ(leaks[0].threads[0].tid, 4242u);
    EXPECT_EQ(leaks[0].threads[1].name, "loader");
}

TEST(Leaks, ManyThreadsAreCountedAndNotAllListed)
{
    LogBuilder log = program();
    for (std::uint32_t thread = 1; thread <= 40; ++thread)
        log.thread(thread).thread_name(100 + thread, "t").alloc(0x1000ull * thread, 1, 1);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 1u);
    EXPECT_EQ(leaks[0].thread_count, 40u);
    EXPECT_EQ(leaks[0].threads.size(), kMaxLeakThreads);
}

TEST(Leaks, PhaseIsGivenAsAPath)
{
    LogBuilder log = program();
    log.push("epoch").push("step").alloc(0x1000, 1, 1).pop().alloc(0x2000, 2, 2);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 2u);
    EXPECT_EQ(leaks[0].phase, "epoch");
    EXPECT_EQ(leaks[1].phase, "epoch/step");
}

TEST(Leaks, StackOfAReloadedModuleIsReadInTheModuleOfItsTime)
{
    LogBuilder log;
    log.at(1'000'000).module(1, 0x400000, 0x400000, 0x500000, "/gone/old.so");
    log.stack(1, {0x401001}).alloc(0x1000, 1, 1);
    // As the recorder writes it: the call is stamped, then the change of modules is noticed, then
    // the stack is new.
    log.at(3'000'000).module_gone(1).module(2, 0x400000, 0x400000, 0x500000, "/gone/new.so");
    log.stack(2, {0x401001}).at(2'999'000).alloc(0x2000, 2, 2);
    const std::vector<Leak> leaks = leaks_of(log);
    ASSERT_EQ(leaks.size(), 2u);
    EXPECT_EQ(leaks[0].stack.at(0).module, "/gone/new.so");
    EXPECT_EQ(leaks[1].stack.at(0).module, "/gone/old.so");
}

TEST(Leaks, ReservationsAreRowsOfTheirOwn)
{
    LogBuilder log = program();
    log.alloc(0x7000000, 2_MiB, 1, "cuMemAddressReserve")
        .alloc(0x8000000, 2_MiB, 1, "cuMemAddressReserve");
    const TempFile file(log.build());
    const Report report = make_report({file.path()});
    EXPECT_TRUE(report.leaks.empty());
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_EQ(report.reservations.size(), 1u);
    EXPECT_EQ(report.reservations[0].blocks, 2u);
    EXPECT_EQ(report.reservations[0].bytes, 4_MiB);
    EXPECT_EQ(report.reservations[0].kind, LeakKind::at_exit);
}

} // namespace
} // namespace vramscope::report
