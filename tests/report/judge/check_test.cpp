// tests/report/judge/check_test.cpp — budgets against made-up logs.
//
// They test what fails, what is not known, and the exit status.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "report/words/check_words.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::report_of_all;
using test::operator""_MiB;
using test::operator""_GiB;

Exit exit_of(const LogBuilder& log, const Budget& budget = {})
{
    return check(report_of(log), budget).exit;
}

TEST(Check, WithoutABudgetNothingMayLeak)
{
    EXPECT_EQ(exit_of(clean()), Exit::ok);
    EXPECT_EQ(exit_of(leaking()), Exit::findings);
    EXPECT_EQ(check(report_of(clean()), {}).verdict, Check::Verdict::passed);
}

TEST(Check, LeaksUpToTheBudgetAreKept)
{
    Budget budget;
    budget.max_leaked = 3_MiB;
    EXPECT_EQ(exit_of(leaking(), budget), Exit::ok);
    budget.max_leaked = 3_MiB - 1;
    EXPECT_EQ(exit_of(leaking(), budget), Exit::findings);
}

TEST(Check, NamesTheBudgetWhatWasMeasuredAndWhoIsOverIt)
{
    const Report report = report_of(leaking());
    const Check checked = check(report, {});
    ASSERT_EQ(checked.rows.size(), 1u);
    const CheckRow& row = checked.rows[0];
    EXPECT_EQ(row.budget, "max-leaked");
    EXPECT_EQ(row.measured, 3_MiB);
    EXPECT_EQ(row.limit, 0);
    EXPECT_EQ(row.state, CheckState::failed);
    EXPECT_EQ(row.failed, std::vector<std::size_t>{0});
    ASSERT_EQ(row.culprits.size(), 2u);
    EXPECT_EQ(row.culprits[0].bytes, 2_MiB) << "the largest first";
    EXPECT_EQ(row.culprits[0].place, &report.leaks[0]);
}

TEST(Check, CountsTheCallStacksThatItDoesNotName)
{
    LogBuilder log = test::program_with_stacks();
    for (std::uint64_t stack = 1; stack <= 5; ++stack)
        log.alloc(0x1000 * stack, 1_MiB, stack);
    const Report report = report_of(log);
    const Check checked = check(report, {});
    ASSERT_EQ(checked.rows.size(), 1u);
    EXPECT_EQ(checked.rows[0].culprits.size(), 3u);
    EXPECT_EQ(checked.rows[0].more_culprits, 2u);
    std::ostringstream text;
    write_check(text, checked, report, TextStyle{});
    EXPECT_NE(text.str().find("    ... and 2 more call stacks\n"), std::string::npos) << text.str();
}

TEST(Check, ABudgetOfSomethingElseDoesNotAllowLeaks)
{
    Budget budget;
    budget.max_peak = 1_GiB;
    EXPECT_EQ(exit_of(leaking(), budget), Exit::findings);
    EXPECT_EQ(exit_of(leaking(), fail_on({})), Exit::ok) << "unless that is said";
    EXPECT_EQ(exit_of(leaking(), fail_on({Finding::misuse})), Exit::ok);
    Budget both = fail_on({});
    both.max_leaked = 0;
    EXPECT_EQ(exit_of(leaking(), both), Exit::findings);
}

TEST(Check, PeakIsTheMostThatWasAllocated)
{
    Budget budget;
    budget.max_peak = 8_MiB;
    EXPECT_EQ(exit_of(clean(), budget), Exit::ok);
    budget.max_peak = 8_MiB - 1;
    EXPECT_EQ(exit_of(clean(), budget), Exit::findings);
}

TEST(Check, ReservedCountsWhatThePoolKept)
{
    LogBuilder log = program();
    log.segment(0x10000, 20_MiB).pooled(0x10000, 1_MiB).free(0x10000);
    Budget budget;
    budget.max_peak = 1_MiB;
    budget.max_reserved = 20_MiB;
    EXPECT_EQ(exit_of(log, budget), Exit::ok);
    budget.max_reserved = 20_MiB - 1;
    EXPECT_EQ(exit_of(log, budget), Exit::findings);
}

TEST(Check, WhatAnAllocatorCutsIsAllocatedOnceAndItsCacheIsReserved)
{
    const LogBuilder log = test::program_that_cuts();
    for (const std::uint64_t less : {0, 1}) {
        const Exit expected = less == 0 ? Exit::ok : Exit::findings;
        Budget peak, reserved, leaked;
        leaked.max_leaked = 8_MiB - less;
        peak.max_leaked = reserved.max_leaked = 8_MiB;
        peak.max_peak = 12_MiB - less;
        reserved.max_reserved = 25_MiB - less;
        EXPECT_EQ(exit_of(log, peak), expected);
        EXPECT_EQ(exit_of(log, reserved), expected);
        EXPECT_EQ(exit_of(log, leaked), expected);
    }
}

TEST(Check, DriverCallsAreNotThoseThatThePoolServed)
{
    LogBuilder log = program();
    log.segment(0x10000, 20_MiB);
    for (int step = 0; step < 5; ++step)
        log.pooled(0x10000, 1_MiB).free(0x10000);
    log.alloc(0x90000, 1, 1, "cuMemAllocManaged").free(0x90000);
    Budget budget;
    budget.max_driver_calls = 3;
    EXPECT_EQ(exit_of(log, budget), Exit::ok) << "one segment, one allocation, one free";
    budget.max_driver_calls = 2;
    EXPECT_EQ(exit_of(log, budget), Exit::findings);
    budget.max_driver_calls = 4;
    EXPECT_EQ(exit_of(clean().alloc(0x9000, 1).free(0x9000), budget), Exit::ok) << "without a pool";
    budget.max_driver_calls = 3;
    EXPECT_EQ(exit_of(clean().alloc(0x9000, 1).free(0x9000), budget), Exit::findings);
}

TEST(Check, FindingsFailOnRequestAlone)
{
    LogBuilder misuse = clean();
    misuse.failed_free(0x1000, 4);
    EXPECT_EQ(exit_of(misuse), Exit::ok);
    EXPECT_EQ(exit_of(misuse, fail_on({Finding::misuse})), Exit::findings);
    LogBuilder failed = clean();
    failed.failed(1, 4096);
    EXPECT_EQ(exit_of(failed), Exit::ok);
    EXPECT_EQ(exit_of(failed, fail_on({Finding::failed_calls})), Exit::findings);
    LogBuilder shortage = clean();
    shortage.out_of_memory({.requested = 1_GiB, .free = 1_MiB, .total = 1_GiB});
    EXPECT_EQ(exit_of(shortage), Exit::ok);
    EXPECT_EQ(exit_of(shortage, fail_on({Finding::out_of_memory})), Exit::findings);
    LogBuilder damaged = clean();
    damaged.damaged(format::Damage::overrun, 0x1000, 16, 4);
    EXPECT_EQ(exit_of(damaged), Exit::ok);
    EXPECT_EQ(exit_of(damaged, fail_on({Finding::damage})), Exit::findings);
    EXPECT_EQ(exit_of(clean(), fail_on({Finding::misuse, Finding::damage, Finding::out_of_memory,
                                        Finding::failed_calls})),
              Exit::ok);
}

// In the words of its row: what grows is growth_test's to say.
Report growing_report(double per_step, double per_second, const std::string& step,
                      LogBuilder log = clean())
{
    Report report = report_of(log);
    Growth growth;
    growth.api = "cudaMalloc";
    growth.bytes = 4_MiB;
    growth.rate.per = step;
    growth.rate.bytes_per_step = per_step;
    growth.rate.bytes_per_call = per_step;
    growth.rate.bytes_per_second = per_second;
    growth.freed = true;
    report.growth = {growth, growth};
    return report;
}

TEST(Check, GrowthIsOfAllStacksTogether)
{
    Budget budget;
    budget.max_growth = GrowthBudget{2000, GrowthBudget::Per::step};
    EXPECT_EQ(check(growing_report(1000, 9e9, "step"), budget).exit, Exit::ok);
    EXPECT_EQ(check(growing_report(1001, 9e9, "step"), budget).exit, Exit::findings);
    budget.max_growth->per = GrowthBudget::Per::second;
    EXPECT_EQ(check(growing_report(9e9, 1000, "step"), budget).exit, Exit::ok);
    EXPECT_EQ(check(growing_report(9e9, 1001, ""), budget).exit, Exit::findings);
    const Check without_steps = check(growing_report(1, 1, ""), fail_on({Finding::growth}));
    EXPECT_EQ(without_steps.exit, Exit::findings);
    EXPECT_EQ(without_steps.rows[0].unit, CheckUnit::bytes_per_call);
    const Check with_steps = check(growing_report(1, 1, "step"), fail_on({Finding::growth}));
    EXPECT_EQ(with_steps.rows[0].unit, CheckUnit::bytes_per_step);
    EXPECT_EQ(check(growing_report(1, 1, ""), {}).exit, Exit::ok) << "freed at the end";
}

// 64 KiB in each of 200 steps and 1 MiB in each tenth of them, which has a name of its own.
TEST(Check, GrowthIsPerStepOfTheProcess)
{
    Report report = growing_report(65536, 1, "step");
    report.processes[0].step_count = 200;
    report.growth[0].rate.steps = 160;
    report.growth[1].rate.per = "eval";
    report.growth[1].rate.steps = 16;
    report.growth[1].rate.bytes_per_step = 1 << 20;
    Budget budget;
    budget.max_growth = GrowthBudget{0, GrowthBudget::Per::step};
    EXPECT_EQ(check(report, budget).rows.back().measured, 65536 + (1 << 20) / 10.0);
}

TEST(Check, ARateNamesItsStepAndIsExactBesideALimitThatLooksAlike)
{
    Report report = growing_report(32768, 1, "iteration #");
    report.processes[0].step_name = "iteration #";
    report.processes[0].step_count = 200;
    for (Growth& row : report.growth)
        row.rate.steps = 160;
    Budget budget;
    budget.max_growth = GrowthBudget{1024, GrowthBudget::Per::step};
    EXPECT_EQ(row_words(check(report, budget).rows.back()),
              "growth 64 KiB/iteration, at most 1 KiB/step");
    budget.max_growth->bytes = 65535;
    EXPECT_EQ(row_words(check(report, budget).rows.back()),
              "growth 65,536 B/iteration, at most 65,535 B/step");
}

TEST(Check, GrowthPerCallIsThatOfTheFastest)
{
    Report report = growing_report(1, 1, "");
    report.growth[0].rate.bytes_per_call = 1024;
    report.growth[1].rate.bytes_per_call = 4096;
    Budget budget;
    budget.max_growth = GrowthBudget{0, GrowthBudget::Per::call};
    EXPECT_EQ(check(report, budget).rows.back().measured, 4096);
}

TEST(Check, GrowthPerStepIsNotKnownWhereThereWereNone)
{
    Budget budget;
    budget.max_growth = GrowthBudget{2000, GrowthBudget::Per::step};
    const Check checked = check(growing_report(9000, 9e9, ""), budget);
    EXPECT_EQ(checked.exit, Exit::incomplete);
    ASSERT_EQ(checked.doubts.size(), 1u);
    EXPECT_NE(checked.doubts[0].find("no steps were seen"), std::string::npos);
    EXPECT_EQ(check(report_of(clean()), budget).exit, Exit::ok) << "nothing grew";
}

TEST(Check, GrowthOfACrashIsGrowthUnlessEventsAreMissing)
{
    EXPECT_EQ(check(growing_report(1, 1, "step", killed(clean())), fail_on({Finding::growth})).exit,
              Exit::findings);
    LogBuilder lost = clean();
    lost.header().lost[0] = 1;
    EXPECT_EQ(check(growing_report(1, 1, "step", lost), fail_on({Finding::growth})).exit,
              Exit::incomplete);
}

TEST(Check, FragmentationIsWhatWasStuckWhenMostWasReserved)
{
    LogBuilder log = program();
    log.segment(0x10000000, 20_MiB)
        .pooled(0x10000000, 5_MiB)
        .pooled(0x10000000 + 5_MiB, 10_MiB)
        .free(0x10000000 + 5_MiB)
        .reusable()
        .segment(0x20000000, 5_MiB)
        .pooled(0x20000000, 5_MiB)
        .free(0x20000000)
        .free(0x10000000);
    Budget budget;
    budget.max_fragmentation = 60; // 15 of 25 MiB
    EXPECT_EQ(exit_of(log, budget), Exit::ok);
    budget.max_fragmentation = 59.9;
    EXPECT_EQ(exit_of(log, budget), Exit::findings);
}

TEST(Check, AnImportThatIsOpenFailsWithTheLeaks)
{
    LogBuilder log = clean();
    log.alloc(0x5000, 1_MiB, 1, "cuIpcOpenMemHandle_v2");
    EXPECT_EQ(exit_of(log), Exit::findings);
    Budget budget = fail_on({});
    EXPECT_EQ(exit_of(log, budget), Exit::ok);
    budget.max_leaked = 0;
    EXPECT_EQ(exit_of(log, budget), Exit::ok) << "others' memory has no bytes here";
}

TEST(Check, ACrashIsNeverWithinBudget)
{
    EXPECT_EQ(exit_of(killed(clean())), Exit::incomplete);
    const Check checked = check(report_of(killed(leaking())), {});
    EXPECT_EQ(checked.exit, Exit::incomplete) << "what it held may be no leak";
    EXPECT_EQ(checked.rows.at(0).state, CheckState::unknown);
    EXPECT_FALSE(checked.doubts.empty());
}

TEST(Check, WhatWasMeasuredOverItsBudgetFailsInACrashToo)
{
    Budget budget = fail_on({Finding::misuse});
    budget.max_peak = 1_MiB;
    EXPECT_EQ(exit_of(killed(clean()), budget), Exit::findings);
    EXPECT_EQ(exit_of(killed(clean().failed_free(0x1000, 4)), fail_on({Finding::misuse})),
              Exit::findings);
    LogBuilder reset = leaking();
    reset.context_gone(1);
    EXPECT_EQ(exit_of(killed(reset)), Exit::findings) << "nobody can free it any more";
}

TEST(Check, AProgramThatFailedIsNotWithinBudgetAndItsLeaksAreLeaks)
{
    for (LogBuilder log : {clean(), leaking()}) {
        const bool leaks = exit_of(log) == Exit::findings;
        log.header().waited = 1;
        log.header().wait_status = 3 << 8;
        const Check checked = check(report_of(log), {});
        EXPECT_EQ(checked.exit, leaks ? Exit::findings : Exit::incomplete);
        EXPECT_EQ(checked.doubts,
                  std::vector<std::string>{"the program failed: it exited with status 3"});
    }
}

TEST(Check, LostAndDamagedEventsAreNeverWithinBudget)
{
    LogBuilder lost = clean();
    lost.header().lost[0] = 1;
    EXPECT_EQ(exit_of(lost), Exit::incomplete);
    EXPECT_EQ(exit_of(clean().raw({0, 0, 0})), Exit::incomplete);
    LogBuilder reset = leaking();
    reset.context_gone(1).header().lost[0] = 1;
    EXPECT_EQ(exit_of(killed(reset)), Exit::incomplete) << "its frees may be those that were lost";
}

TEST(Check, ALogWithoutAMemoryCallShowsNothing)
{
    EXPECT_EQ(exit_of(program()), Exit::nothing_observed);
    EXPECT_EQ(check(report_of(program()), {}).verdict, Check::Verdict::nothing_observed);
    EXPECT_EQ(exit_of(killed(program())), Exit::incomplete) << "it may have come later";
    EXPECT_EQ(exit_of(program().raw({0, 0, 0})), Exit::incomplete);
}

TEST(Check, DoubtIsAllowedOnRequestAndFailuresAreNot)
{
    Budget budget;
    budget.allow_inconclusive = true;
    EXPECT_EQ(exit_of(killed(leaking()), budget), Exit::ok);
    EXPECT_EQ(check(report_of(killed(leaking())), budget).verdict, Check::Verdict::inconclusive);
    EXPECT_EQ(exit_of(program(), budget), Exit::ok);
    EXPECT_EQ(exit_of(leaking(), budget), Exit::findings);
    budget.max_peak = 1;
    EXPECT_EQ(exit_of(killed(clean()), budget), Exit::findings);
}

TEST(Check, EachProcessIsJudgedByItself)
{
    Budget budget;
    budget.max_leaked = 3_MiB;
    EXPECT_EQ(check(report_of_all({rank(leaking(), 0, "2"), rank(leaking(), 1, "2")}), budget).exit,
              Exit::ok);
    const Report report = report_of_all({rank(clean(), 0, "2"), rank(leaking(), 1, "2")});
    const Check checked = check(report, {});
    EXPECT_EQ(checked.exit, Exit::findings);
    EXPECT_EQ(checked.rows.at(0).failed, std::vector<std::size_t>{1});
    EXPECT_EQ(checked.rows.at(0).process, 1u);
}

TEST(Check, EachProcessThatIsOverItsBudgetNamesItsOwnCallStack)
{
    const LogBuilder most =
        rank(clean().alloc(0x2000, 8 << 20, 2).alloc(0x3000, 2 << 20, 2), 0, "3");
    const LogBuilder as_well = rank(clean().alloc(0x2000, 4 << 20, 2), 1, "3");
    const LogBuilder other = rank(clean().alloc(0x2000, 1 << 20, 3), 2, "3");
    const Report report = report_of_all({most, as_well, other});
    Budget budget;
    budget.max_peak = 1_MiB;
    const Check checked = check(report, budget);
    ASSERT_EQ(checked.rows.size(), 2u);
    const std::vector<Culprit>& leaks = checked.rows[0].culprits;
    ASSERT_EQ(leaks.size(), 2u) << "the place that two have is told once";
    EXPECT_EQ(leaks[0].bytes, 10_MiB);
    EXPECT_EQ(leaks[0].process, 0u);
    EXPECT_EQ(leaks[1].bytes, 1_MiB);
    EXPECT_EQ(leaks[1].process, 2u);
    EXPECT_FALSE(checked.rows[1].culprits.empty());
}

TEST(Check, WhatFailedIsToldByWhatFailed)
{
    const Report report = report_of_all({killed(clean().alloc(0x9000, 90 << 20, 3)), leaking()});
    const CheckRow row = check(report, {}).rows.at(0);
    EXPECT_EQ(row.failed, std::vector<std::size_t>{1});
    EXPECT_EQ(row.process, 1u);
    EXPECT_EQ(row.measured, static_cast<double>(3_MiB)) << "what the other held proves nothing";
    for (const Culprit& culprit : row.culprits)
        EXPECT_EQ(culprit.process, 1u);
}

TEST(Check, TheWorstProcessDecides)
{
    EXPECT_EQ(check(report_of_all({clean(), killed(clean())}), {}).exit, Exit::incomplete);
    EXPECT_EQ(check(report_of_all({leaking(), killed(clean())}), {}).exit, Exit::findings);
    EXPECT_EQ(check(report_of_all({clean(), program()}), {}).exit, Exit::ok)
        << "a process may do without memory";
}

TEST(Check, ARankWithoutALogIsInDoubtUnlessOneAloneIsAskedFor)
{
    const Check checked = check(report_of_all({rank(clean(), 0, "3"), rank(clean(), 2, "3")}), {});
    EXPECT_EQ(checked.exit, Exit::incomplete);
    EXPECT_EQ(checked.doubts,
              std::vector<std::string>{"there is no log of rank 1: no CUDA call was made "
                                       "there, or the log is elsewhere"});
    EXPECT_EQ(exit_of(rank(clean(), 0, "3")), Exit::ok);
    const LogBuilder its_child = rank(clean(), 0, "3"); // which has inherited its environment
    EXPECT_EQ(check(report_of_all({rank(clean(), 0, "3"), its_child}), {}).exit, Exit::ok);
}

} // namespace
} // namespace vramscope::report
