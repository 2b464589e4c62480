// tests/report/judge/program_tests_test.cpp — tests that a program names, in reports and against budgets.
#include <sstream>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

LogBuilder& begin(LogBuilder& log, const char* name)
{
    return log.add(format::Test{TestState::began, name});
}

LogBuilder& end(LogBuilder& log, const char* name, TestState state = TestState::passed)
{
    return log.add(format::Test{state, name});
}

// `Keeps` leaves 2 MiB for ever, `Caches` 1 MiB that is freed after it, `Cleans` nothing.
LogBuilder three_tests()
{
    LogBuilder log = program();
    log.alloc(0x1000, 16_MiB, 1);
    begin(log, "Keeps").alloc(0x2000, 2_MiB, 2).alloc(0x3000, 4_MiB, 3).free(0x3000);
    end(log, "Keeps");
    begin(log, "Caches").alloc(0x4000, 1_MiB, 4);
    end(log, "Caches", TestState::skipped);
    begin(log, "Cleans").alloc(0x5000, 8_MiB, 5).free(0x5000).free(0x1000);
    end(log, "Cleans").free(0x4000);
    return log;
}

const std::vector<TestRow>& tests_of(const Report& report)
{
    return report.processes.front().tests;
}

TEST(Tests, OwnWhatWasAllocatedWhileTheyRan)
{
    const Report report = report_of(three_tests());
    const std::vector<TestRow>& tests = tests_of(report);
    ASSERT_EQ(tests.size(), 3u);
    EXPECT_EQ(tests[0].name, "Keeps");
    EXPECT_EQ(tests[0].leaked_bytes, 2_MiB);
    EXPECT_EQ(tests[0].leaked_blocks, 1u);
    ASSERT_EQ(tests[0].leaks.size(), 1u);
    EXPECT_EQ(tests[0].leaks[0].bytes, 2_MiB);
    EXPECT_EQ(tests[0].leaks[0].stack.at(0).offset, 0x2000u);
    EXPECT_EQ(tests[1].state, TestState::skipped);
    EXPECT_EQ(tests[1].leaked_bytes, 0u);
    EXPECT_EQ(tests[1].held_bytes, 1_MiB);
    EXPECT_EQ(freed_later(tests[1]), 1_MiB) << "a cache is no leak";
    EXPECT_EQ(tests[2].held_bytes, 0u) << "what was there before the test is not the test's";
    EXPECT_EQ(tests[2].allocations, 1u);
}

TEST(Tests, HaveThePeakOfTheirTimeAlone)
{
    const Report report = report_of(three_tests());
    const std::vector<TestRow>& tests = tests_of(report);
    EXPECT_EQ(test_peak(tests[0]), 22_MiB);
    EXPECT_EQ(test_growth(tests[0]), 6_MiB);
    EXPECT_EQ(test_growth(tests[1]), 1_MiB);
    EXPECT_EQ(test_peak(tests[2]), 27_MiB);
}

TEST(Tests, OwnTheAllocationsOfAllThreads)
{
    LogBuilder log = program();
    begin(log, "Threads").thread(1).alloc(0x2000, 1_MiB, 2).thread(0);
    const Report report = report_of(end(log, "Threads"));
    EXPECT_EQ(tests_of(report).at(0).leaked_bytes, 1_MiB);
}

TEST(Tests, KeepWhatWentWithItsContext)
{
    LogBuilder log = program();
    log.context(1);
    begin(log, "Resets").alloc(0x2000, 1_MiB, 2).context_gone(1);
    const Report report = report_of(end(log, "Resets"));
    EXPECT_EQ(tests_of(report).at(0).leaked_bytes, 1_MiB);
}

TEST(Tests, AnEndOfAnotherNameMeansNothing)
{
    LogBuilder log = program();
    end(log, "Never");
    begin(log, "First");
    begin(log, "Second");
    end(log, "First");
    const Report report = report_of(log);
    ASSERT_EQ(tests_of(report).size(), 2u);
    EXPECT_FALSE(tests_of(report)[0].ended());
    EXPECT_FALSE(tests_of(report)[1].ended());
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
}

TEST(Tests, AreJudgedByThemselves)
{
    const Report report = report_of(three_tests());
    const Check checked = check(report, {});
    EXPECT_EQ(checked.tests, 3u);
    EXPECT_EQ(checked.failed_tests, 1u);
    EXPECT_EQ(checked.unknown_tests, 0u);
    ASSERT_EQ(checked.test_rows.size(), 1u);
    const TestCheck& row = checked.test_rows[0];
    EXPECT_EQ(row.test, 0u);
    EXPECT_EQ(row.state, CheckState::failed);
    ASSERT_EQ(row.breaches.size(), 1u);
    EXPECT_EQ(row.breaches[0].budget, "max-leaked");
    EXPECT_EQ(row.breaches[0].measured, 2_MiB);
    ASSERT_EQ(row.breaches[0].culprits.size(), 1u);
    EXPECT_EQ(row.breaches[0].culprits[0].place, &tests_of(report)[0].leaks[0]);
}

TEST(Tests, AreHeldAgainstThePeakToo)
{
    const Report report = report_of(three_tests());
    Budget budget;
    budget.max_leaked = 2_MiB;
    budget.max_peak = 26_MiB;
    const Check checked = check(report, budget);
    ASSERT_EQ(checked.test_rows.size(), 1u);
    EXPECT_EQ(checked.test_rows[0].test, 2u);
    EXPECT_EQ(checked.test_rows[0].breaches.at(0).budget, "max-peak");
    std::ostringstream text;
    write_check(text, checked, report, {});
    EXPECT_NE(text.str().find("1 test is over budget: Cleans"), std::string::npos) << text.str();
}

TEST(Tests, OneThatDidNotEndIsNamed)
{
    LogBuilder log = killed(three_tests());
    begin(log, "Crashes").alloc(0x6000, 1_MiB, 6);
    const Report report = report_of(log);
    const Check checked = check(report, {});
    EXPECT_EQ(checked.verdict, Check::Verdict::inconclusive);
    EXPECT_EQ(checked.failed_tests, 0u) << "Keeps might have freed it later";
    EXPECT_EQ(checked.unknown_tests, 2u);
    EXPECT_EQ(checked.test_rows.size(), 2u);
    std::ostringstream text;
    write_check(text, checked, report, {});
    EXPECT_NE(text.str().find("test Crashes began and did not end"), std::string::npos)
        << text.str();
}

TEST(Tests, OneThatFailedIsNotKnownToBeClean)
{
    LogBuilder log = program();
    begin(log, "Fails").alloc(0x2000, 1_MiB, 2).free(0x2000);
    const Check checked = check(report_of(end(log, "Fails", TestState::failed)), {});
    EXPECT_EQ(checked.unknown_tests, 1u);
    EXPECT_TRUE(checked.test_rows.empty());
}

TEST(Tests, AreToldWorstFirst)
{
    const Report report = report_of(three_tests());
    std::ostringstream text;
    write_report(text, report, {});
    const std::string told = text.str();
    EXPECT_NE(told.find("Tests: 3 ran, 1 skipped; 1 test left 2 MiB that nobody freed"),
              std::string::npos)
        << told;
    EXPECT_LT(told.find("  Keeps"), told.find("  Caches"));
    EXPECT_LT(told.find("  Caches"), told.find("  Cleans"));
}

} // namespace
} // namespace vramscope::report
