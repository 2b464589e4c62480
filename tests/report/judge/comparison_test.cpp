// tests/report/judge/comparison_test.cpp — two runs side by side.
//
// Call stacks are compared by fingerprint, and numbers with a tolerance. Some logs are not whole:
// what is still known of them is tested too.
#include "report/model/comparison.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::program_with_stacks;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;

// Leaks so many bytes at each of these stacks; its peak is at least 64 MiB.
LogBuilder run(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& leaks,
               std::uint64_t peak = 64_MiB)
{
    LogBuilder log = program_with_stacks();
    log.place({.context = 1, .device = 0});
    log.alloc(0x1000, peak, 9).free(0x1000);
    std::uint64_t address = 0x10000;
    for (const auto& [stack, bytes] : leaks)
        log.alloc(address += 0x1000, bytes, stack);
    return log;
}

// Elsewhere in memory: only the places of the modules differ.
LogBuilder moved(std::uint64_t stack, std::uint64_t bytes)
{
    LogBuilder log;
    log.module(1, 0x7000000, 0x7000000, 0x7100000, "/elsewhere/train", "build");
    log.stack(1, {0x7000001 + stack * 0x1000}).stack(2, {0x7000001 + 0x9000});
    log.place({.context = 1, .device = 3});
    log.alloc(0x1000, 64_MiB, 2).free(0x1000).alloc(0x11000, bytes, 1);
    return log;
}

struct Both {
    Report base;
    Report now;
    Comparison comparison;

    Both(const LogBuilder& before, const LogBuilder& after, double tolerance = 0.05)
        : base(report_of(before)), now(report_of(after)), comparison(compare(base, now, tolerance))
    {
    }
    const ComparedNumber& number(const std::string& name) const
    {
        return *std::find_if(comparison.numbers.begin(), comparison.numbers.end(),
                             [&](const ComparedNumber& number) { return number.name == name; });
    }
};

TEST(Compare, TellsLeaksThatAreNewGoneGrownAndShrunk)
{
    const Both both(run({{1, 100}, {2, 100}, {3, 100}, {4, 100}}),
                    run({{1, 150}, {2, 40}, {4, 100}, {5, 7}}));
    const auto& leaks = both.comparison.leaks;
    ASSERT_EQ(leaks.size(), 4u);
    EXPECT_EQ(both.comparison.same_leaks, 1u);
    EXPECT_EQ(leaks[0].change, Change::grown);
    EXPECT_EQ(leaks[0].base_bytes, 100u);
    EXPECT_EQ(leaks[0].new_bytes, 150u);
    EXPECT_EQ(leaks[1].change, Change::added);
    EXPECT_EQ(leaks[2].change, Change::shrunk);
    EXPECT_EQ(leaks[3].change, Change::gone);
    EXPECT_EQ(leaks[3].place,
              &*std::find_if(both.base.leaks.begin(), both.base.leaks.end(),
                             [](const Leak& leak) { return leak.stack[0].offset == 0x3000; }));
    EXPECT_EQ(both.comparison.exit, Exit::regressed);
}

TEST(Compare, IsOfBlocksThatAnAllocatorCut)
{
    const Both both(test::program_that_cuts(), test::program_that_cuts(2_MiB));
    ASSERT_EQ(both.comparison.leaks.size(), 1u);
    EXPECT_EQ(both.comparison.leaks[0].change, Change::shrunk);
    EXPECT_EQ(both.comparison.leaks[0].base_bytes, 3_MiB);
    EXPECT_EQ(both.comparison.leaks[0].new_bytes, 2_MiB);
    EXPECT_EQ(both.comparison.same_leaks, 1u);
    EXPECT_EQ(both.number("leaked_bytes").base, 8_MiB);
    EXPECT_EQ(both.number("peak_bytes").base, 12_MiB);
    EXPECT_EQ(both.number("peak_reserved_bytes").base, 25_MiB);
    EXPECT_EQ(both.number("allocations").base, 3u);
}

TEST(Compare, IsByFingerprintWhereverTheProgramLies)
{
    const Both both(run({{3, 4_KiB}}), moved(3, 4_KiB));
    EXPECT_EQ(both.comparison.same_leaks, 1u);
    EXPECT_TRUE(both.comparison.leaks.empty());
    EXPECT_EQ(both.comparison.verdict, Comparison::Verdict::same);
    EXPECT_EQ(both.comparison.exit, Exit::ok);
}

// Line 3 of a function in the base is line 6 now, and so is another one.
Report with_lines(std::initializer_list<int> lines)
{
    Report report = report_of(run({}));
    for (const int line : lines) {
        Leak leak;
        leak.api = "cuMemAlloc";
        leak.memory = format::Memory::device;
        leak.stack = {{.function = "f()", .file = "f.cpp", .line = line, .module = "/x/app"}};
        leak.fingerprint = "f at " + std::to_string(line);
        leak.bytes = 100;
        leak.blocks = 1;
        report.leaks.push_back(leak);
    }
    return report;
}

TEST(Compare, WhatMovedWithinItsFunctionIsTheSame)
{
    const Report base = with_lines({3, 6});
    Report moved = with_lines({6, 9});
    follow_moved_lines(base, moved);
    EXPECT_EQ(moved.leaks[0].fingerprint, "f at 3");
    EXPECT_EQ(moved.leaks[1].fingerprint, "f at 6");
    Report more = with_lines({6, 9, 12});
    follow_moved_lines(base, more);
    EXPECT_EQ(compare(base, more, 0).verdict, Comparison::Verdict::worse);
    EXPECT_EQ(more.leaks[0].fingerprint, "f at 6") << "which is which nobody knows";
    Report same = with_lines({3, 6});
    follow_moved_lines(base, same);
    EXPECT_EQ(same.leaks[1].fingerprint, "f at 6");
}

TEST(Compare, APeakOfAnotherDeviceThanTheHighestIsWorse)
{
    const auto two_devices = [](std::uint64_t peak) {
        LogBuilder log = run({}, 100_MiB);
        log.place({.context = 2, .device = 1});
        return log.alloc(0x90000, peak, 2).free(0x90000);
    };
    const Both both(two_devices(10_MiB), two_devices(90_MiB));
    EXPECT_EQ(both.comparison.verdict, Comparison::Verdict::worse);
    EXPECT_FALSE(both.number("peak_bytes").regressed) << "the highest of all";
    const auto other =
        std::find_if(both.comparison.numbers.begin(), both.comparison.numbers.end(),
                     [](const ComparedNumber& number) { return number.device == 1; });
    ASSERT_NE(other, both.comparison.numbers.end());
    EXPECT_EQ(other->base, 10_MiB);
    EXPECT_EQ(other->now, 90_MiB);
    EXPECT_TRUE(other->regressed);
    EXPECT_EQ(Both(two_devices(90_MiB), two_devices(10_MiB)).comparison.verdict,
              Comparison::Verdict::same);
}

TEST(CompareText, TellsNoLeaksOfACrashAsWorse)
{
    LogBuilder after = run({{1, 100}}, 90_MiB);
    const Both both(run({}), killed(after));
    ASSERT_EQ(both.comparison.verdict, Comparison::Verdict::worse) << "by its peak";
    std::ostringstream text;
    write_comparison(text, both.comparison, both.now, {});
    EXPECT_EQ(text.str().find("WORSE: peak allocated +26 MiB"), 0u) << text.str();
}

TEST(Compare, ANewLeakIsARegressionThoughOthersAreGone)
{
    EXPECT_EQ(Both(run({{1, 1_MiB}}), run({{2, 1_KiB}})).comparison.exit, Exit::regressed);
}

TEST(Compare, LessLeaksAreBetter)
{
    const Both both(run({{1, 1_MiB}, {2, 5}}), run({{2, 5}}));
    EXPECT_EQ(both.comparison.verdict, Comparison::Verdict::better);
    EXPECT_EQ(both.comparison.exit, Exit::ok);
}

TEST(Compare, APeakMayRiseByTheTolerance)
{
    const LogBuilder base = run({}, 100_MiB);
    EXPECT_EQ(Both(base, run({}, 105_MiB)).comparison.exit, Exit::ok);
    const Both over(base, run({}, 106_MiB));
    EXPECT_EQ(over.comparison.exit, Exit::regressed);
    EXPECT_TRUE(over.number("peak_bytes").regressed);
    EXPECT_EQ(over.number("peak_bytes").now, 106_MiB);
    EXPECT_EQ(Both(base, run({}, 106_MiB), 0.1).comparison.exit, Exit::ok);
    EXPECT_EQ(Both(base, run({}, 101_MiB), 0).comparison.exit, Exit::regressed);
    EXPECT_EQ(Both(base, run({}, 10_MiB), 0).comparison.exit, Exit::ok);
}

TEST(Compare, NamesWhoHadMoreAtTheHigherPeak)
{
    LogBuilder after = program_with_stacks();
    after.place({.context = 1, .device = 0});
    after.alloc(0x1000, 64_MiB, 9).alloc(0x2000, 8_MiB, 3).free(0x1000).free(0x2000);
    const Both both(run({}), after);
    ASSERT_EQ(both.comparison.peak.size(), 1u) << "what did not change is left out";
    EXPECT_EQ(both.comparison.peak[0].change, Change::added);
    EXPECT_EQ(both.comparison.peak[0].new_bytes, 8_MiB);
    std::ostringstream out;
    write_comparison(out, both.comparison, both.now);
    EXPECT_NE(out.str().find("\nAt the peak\n  new         +8 MiB in +1 block     cuMemAlloc  "
                             "train+0x3000\n"),
              std::string::npos)
        << out.str();
}

TEST(Compare, NamesWhoAllocatesMoreOften)
{
    const auto with_pairs = [](int at_3, int at_4) {
        LogBuilder log = run({});
        for (int i = 0; i < at_3; ++i)
            log.alloc(0x5000, 1024, 3).free(0x5000);
        for (int i = 0; i < at_4; ++i)
            log.alloc(0x5000, 1024, 4).free(0x5000);
        return log;
    };
    const Both both(with_pairs(10, 30), with_pairs(60, 20));
    const auto& churn = both.comparison.churn;
    ASSERT_EQ(churn.size(), 2u) << "what did not change is left out";
    EXPECT_EQ(churn[0].change, Change::grown);
    EXPECT_EQ(churn[0].base_count, 10u);
    EXPECT_EQ(churn[0].new_count, 60u);
    EXPECT_EQ(churn[1].change, Change::shrunk);
    EXPECT_EQ(churn[1].new_bytes, 20 * 1024u);
    std::ostringstream out;
    write_comparison(out, both.comparison, both.now);
    EXPECT_NE(out.str().find("\nAllocations\n"
                             "  grown      +50 KiB in +50 calls    cuMemAlloc  train+0x3000\n"
                             "  shrunk     -10 KiB in -10 calls    cuMemAlloc  train+0x4000\n"),
              std::string::npos)
        << out.str();
    const Both less(with_pairs(60, 20), with_pairs(10, 30));
    std::ostringstream quiet;
    write_comparison(quiet, less.comparison, less.now);
    EXPECT_EQ(quiet.str().find("Allocations"), std::string::npos) << quiet.str();
}

TEST(Compare, AnAllocatingPlaceIsNewOnlyWhereTheOlderReportListsAll)
{
    const auto places = [](std::uint64_t first, std::uint64_t count) {
        LogBuilder log;
        log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
        for (std::uint64_t id = first; id < first + count; ++id) {
            log.stack(id, {0x400001 + id * 0x100});
            log.alloc(0x5000, 1, id).free(0x5000);
        }
        return log;
    };
    const Both all_listed(places(1, kMostChurnSites), places(1, kMostChurnSites + 1));
    EXPECT_EQ(all_listed.comparison.churn.size(), 0u) << "one is left out of the newer report";
    const Both one_more(places(1, kMostChurnSites - 1), places(1, kMostChurnSites));
    ASSERT_EQ(one_more.comparison.churn.size(), 1u);
    EXPECT_EQ(one_more.comparison.churn[0].change, Change::added);
    const Both cut(places(1, kMostChurnSites + 1), places(2, kMostChurnSites));
    for (const ComparedPlace& place : cut.comparison.churn)
        EXPECT_NE(place.change, Change::added);
}

TEST(Compare, MoreCallsOfTheDriverAreARegressionIfTheyAreMany)
{
    const auto with_pairs = [](int pairs) {
        LogBuilder log = run({});
        for (int i = 0; i < pairs; ++i)
            log.alloc(0x5000, 1, 3).free(0x5000);
        return log;
    };
    EXPECT_EQ(Both(with_pairs(0), with_pairs(8)).comparison.exit, Exit::ok) << "16 calls";
    EXPECT_EQ(Both(with_pairs(0), with_pairs(9)).comparison.exit, Exit::regressed);
    EXPECT_EQ(Both(with_pairs(500), with_pairs(530)).comparison.exit, Exit::ok);
    EXPECT_EQ(Both(with_pairs(500), with_pairs(540)).comparison.exit, Exit::regressed);
}

TEST(Compare, MoreWrongFreesAreARegression)
{
    EXPECT_EQ(Both(run({}), run({}).failed_free(0x1000, 4)).comparison.exit, Exit::regressed);
    EXPECT_EQ(Both(run({}).failed_free(0x1000, 4), run({})).comparison.exit, Exit::ok);
}

TEST(Compare, ACrashShowsOnlyWhatIsWorse)
{
    EXPECT_EQ(Both(run({}), killed(run({}))).comparison.exit, Exit::incomplete);
    EXPECT_EQ(Both(run({}), killed(run({{1, 5}}))).comparison.exit, Exit::incomplete)
        << "perhaps no leak";
    EXPECT_EQ(Both(run({}), killed(run({}, 100_MiB))).comparison.exit, Exit::regressed);
    EXPECT_EQ(Both(killed(run({})), run({{1, 5}}, 100_MiB)).comparison.exit, Exit::incomplete)
        << "the base might have had more, later";
    const Both both(killed(run({})), run({}));
    ASSERT_EQ(both.comparison.doubts.size(), 1u);
    EXPECT_EQ(both.comparison.doubts[0].substr(0, 6), "base: ");
}

// As a build that dies early would be better than one that works.
TEST(Compare, AProgramThatFailedOrARankWithoutALogIsNotKnownToBeAsGood)
{
    LogBuilder failed = run({});
    failed.header().waited = 1;
    failed.header().wait_status = 3 << 8;
    const Both both(run({{1, 1_MiB}}), failed);
    EXPECT_EQ(both.comparison.exit, Exit::incomplete);
    ASSERT_EQ(both.comparison.doubts.size(), 1u);
    EXPECT_EQ(both.comparison.doubts[0].find("new: the program failed"), 0u);
    const Report whole = test::report_of_all({rank(run({}), 0, "2"), rank(run({}), 1, "2")});
    const Report part = test::report_of_all({rank(run({}), 0, "3"), rank(run({}), 1, "3")});
    EXPECT_EQ(compare(whole, whole, 0.05).exit, Exit::ok);
    EXPECT_EQ(compare(whole, part, 0.05).exit, Exit::incomplete);
}

TEST(Compare, WhereAnAllocationFailsIsChanceAndHowOftenIsNot)
{
    const auto short_at = [](std::uint64_t stack, int times) {
        LogBuilder log = run({});
        for (; times > 0; --times)
            log.failed(2, 1_MiB, "cuMemAlloc_v2", stack)
                .out_of_memory({.requested = 1_MiB, .free = 1, .total = 64_MiB});
        return log;
    };
    const Both moved_on(short_at(1, 1), short_at(2, 1));
    EXPECT_EQ(moved_on.comparison.exit, Exit::ok);
    EXPECT_EQ(Both(short_at(1, 1), short_at(2, 2)).comparison.exit, Exit::regressed);
}

// As after a build in place: functions of the program that was have no names any more.
TEST(Compare, CallStacksWithoutNamesOnOneSideAloneAreNotCompared)
{
    Report base = report_of(run({{1, 1_MiB}}));
    const Report now = report_of(run({{2, 1_MiB}}));
    EXPECT_EQ(compare(base, now, 0.05).exit, Exit::regressed);
    base.unread_files = {{base.leaks[0].stack[0].module, "it was built anew", ""}};
    Report named = now;
    named.unread_files.clear();
    const Comparison comparison = compare(base, named, 0.05);
    EXPECT_EQ(comparison.exit, Exit::incomplete);
    ASSERT_EQ(comparison.doubts.size(), 1u);
    EXPECT_NE(comparison.doubts[0].find("vramscope symbolize"), std::string::npos);
    Report more = named;
    more.totals.leaked_bytes += 1;
    EXPECT_EQ(compare(base, more, 0.05).exit, Exit::regressed) << "whichever they are";
}

TEST(Compare, NothingSeenIsNoComparison)
{
    EXPECT_EQ(Both(run({}), program_with_stacks()).comparison.exit, Exit::nothing_observed);
}

TEST(CompareText, LeadsWithWhatIsWorse)
{
    Both both(run({{1, 1_MiB}}), run({{1, 1_MiB}, {2, 2_MiB}}));
    both.now.processes[0].log = "new.vsl";
    std::ostringstream out;
    write_comparison(out, both.comparison, both.now);
    EXPECT_EQ(out.str(), R"(WORSE: 1 new leak

                            base           new        change
  leaked                   1 MiB         3 MiB        +2 MiB
  leaked blocks                1             2            +1
  peak allocated          64 MiB        64 MiB             =
  peak reserved           64 MiB        64 MiB             =
  allocations                  2             3            +1
  driver calls                 3             4            +1

Leaks: 1 new, 0 grown, 0 shrunk, 0 gone, 1 as before
  new         +2 MiB in +1 block     cuMemAlloc  train+0x2000
Note: /gone/train: no such file; its frames are shown as module+offset; for a log from a container
      or another machine, --sysroot DIR and --path-map OLD=NEW say where its files are

Next: vramscope leaks new.vsl
)");
}

} // namespace
} // namespace vramscope::report
