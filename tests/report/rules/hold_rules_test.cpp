// tests/report/rules/hold_rules_test.cpp — what rules say of logs, and what a check makes of it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/rules/read_rules.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::program_that_cuts;
using test::program_with_stacks;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

Options with_rules(const std::string& text)
{
    const TempFile file(Bytes(text.begin(), text.end()));
    Options options;
    add_rules_file(options.rules, file.path());
    return options;
}

std::vector<RuleOutcome> outcomes(const LogBuilder& log, const std::string& text)
{
    return test::report_of(log, with_rules(text)).processes.at(0).rules;
}

// Of one rule, as it follows its name.
RuleOutcome outcome(const LogBuilder& log, const std::string& text)
{
    return outcomes(log, "rule: " + text).at(0);
}

std::uint64_t measured(const LogBuilder& log, const std::string& text)
{
    return outcome(log, text).measured;
}

Check check_of(const LogBuilder& log, const std::string& text, bool allow_unapplied = false)
{
    Budget budget;
    budget.fail_on.emplace();
    budget.allow_unapplied = allow_unapplied;
    return check(test::report_of(log, with_rules(text)), budget);
}

LogBuilder program_with_steps()
{
    LogBuilder log = program_with_stacks();
    log.thread_name(7, "main").place({.context = 1, .device = 0});
    log.alloc(0x1000, 4_KiB, 1);
    for (int step = 1; step <= 5; ++step) {
        log.push("step " + std::to_string(step)).alloc(0x2000, 8_KiB, 2).push("inner");
        log.alloc(0x3000, 16_KiB, 3, "cuMemHostAlloc").pop().free(0x2000, "cuMemFree_v2", 5);
        log.free(0x3000, "cuMemFreeHost").pop();
    }
    log.mark("done").alloc(0x4000, 4_KiB, 4);
    return log;
}

TEST(HoldRules, RangesAndFirstSteps)
{
    const LogBuilder log = program_with_steps();
    EXPECT_EQ(measured(log, "forbid alloc"), 12u);
    EXPECT_EQ(measured(log, "forbid alloc in range step*"), 10u);
    EXPECT_EQ(measured(log, "forbid alloc in range inner"), 5u);
    EXPECT_EQ(measured(log, "forbid alloc in range step* in range inner"), 5u);
    EXPECT_EQ(measured(log, "forbid alloc in range step* after first 3 of step*"), 4u);
    EXPECT_EQ(measured(log, "forbid alloc after first 5 of step*"), 1u);
    EXPECT_EQ(measured(log, "forbid alloc in range \"step 2\""), 2u);
    EXPECT_EQ(measured(log, "forbid alloc after mark done"), 1u);
    EXPECT_EQ(measured(log, "forbid alloc until mark done"), 11u);
    EXPECT_EQ(measured(log, "forbid free in range step*"), 10u);
}

TEST(HoldRules, ARangeIsItsThreads)
{
    LogBuilder log = program_with_stacks();
    log.thread(0).thread_name(7, "main").push("step");
    log.thread(1).thread_name(8, "loader").alloc(0x1000, 4_KiB, 1);
    EXPECT_EQ(measured(log, "forbid alloc in range step"), 0u);
    EXPECT_EQ(measured(log, "forbid alloc thread load*"), 1u);
    EXPECT_EQ(measured(log, "forbid alloc thread main"), 0u);
}

TEST(HoldRules, KindsDevicesModules)
{
    LogBuilder log = program_with_steps();
    log.place({.context = 2, .device = 1}).alloc(0x9000, 4_KiB, 1);
    EXPECT_EQ(measured(log, "forbid alloc kind pinned"), 5u);
    EXPECT_EQ(measured(log, "forbid alloc not kind pinned"), 8u);
    EXPECT_EQ(measured(log, "forbid alloc device 1"), 1u);
    EXPECT_EQ(measured(log, "forbid alloc module train"), 13u);
    EXPECT_EQ(measured(log, "forbid alloc not module train"), 0u);
}

TEST(HoldRules, WrongFreesAndNoOthers)
{
    LogBuilder log = program_with_steps();
    EXPECT_EQ(outcome(log, "forbid misuse").never, "");
    EXPECT_EQ(measured(log, "forbid misuse"), 0u);
    log.push("cleanup").failed_free(0x2000, 1).failed_free(0x2000, 1).pop(); // freed in each step
    log.failed_free(0x7777, 2).failed_free(0x1000, 3, "cuMemFreeHost");
    log.failed_free(0x4000, 4, "cuMemFree_v2", 700); // alive: the driver had another reason
    EXPECT_EQ(measured(log, "forbid misuse"), 4u);
    EXPECT_EQ(measured(log, "forbid misuse in range cleanup"), 2u);
    EXPECT_EQ(measured(log, "forbid misuse module train"), 4u);
    EXPECT_EQ(outcome(log, "forbid misuse in range cleanup").calls.at(0).count, 2u);
    EXPECT_EQ(measured(log, "forbid free in range cleanup"), 0u);
}

TEST(HoldRules, WhatIsCaptured)
{
    LogBuilder log = program_with_steps();
    log.place({.context = 1, .device = 0, .capturing = true});
    log.alloc(0x9000, 4_KiB, 1, "cuMemAllocAsync");
    EXPECT_EQ(measured(log, "forbid alloc in capture"), 1u);
    EXPECT_EQ(outcome(log, "forbid alloc in capture").unknown, "");
    const RuleOutcome unsure = outcome(program_that_cuts(), "forbid alloc in capture");
    EXPECT_EQ(unsure.measured, 0u);
    EXPECT_NE(unsure.unknown, "");
}

TEST(HoldRules, TheDriversAllocationsAreNotTheProgramsOnes)
{
    const LogBuilder log = program_that_cuts();
    EXPECT_EQ(measured(log, "forbid alloc"), 3u) << "two that were cut, and one of the driver's";
    EXPECT_EQ(measured(log, "forbid driver-alloc"), 2u) << "the segment, and that one";
}

TEST(HoldRules, LimitsSpeakOfWhatLivesAtOnce)
{
    const LogBuilder log = program_with_steps();
    EXPECT_EQ(measured(log, "limit peak 1MiB"), 28_KiB);
    EXPECT_EQ(measured(log, "limit peak 1MiB kind pinned"), 16_KiB);
    EXPECT_EQ(measured(log, "limit live 1MiB"), 8_KiB);
    EXPECT_EQ(measured(log, "limit count-live 1 kind pinned"), 1u);
    EXPECT_EQ(measured(log, "limit count-live 9"), 3u);
    const RuleOutcome over = outcome(log, "limit peak 20KiB");
    ASSERT_EQ(over.calls.size(), 3u) << "all that was alive when the limit was passed";
    EXPECT_EQ(over.calls[0].bytes, 16_KiB);
    EXPECT_EQ(outcome(log, "limit live 1KiB").calls.size(), 2u) << "all that is alive, once";
}

TEST(HoldRules, WhoHadTheMostIsTold)
{
    LogBuilder log = program_with_stacks().place({.context = 1, .device = 0});
    log.alloc(0x1000, 90_KiB, 1).alloc(0x20000, 12_KiB, 2).free(0x20000);
    log.alloc(0x40000, 800_KiB, 3).free(0x40000).alloc(0x20000, 12_KiB, 2);
    const RuleOutcome over = outcome(log, "limit peak 100KiB");
    EXPECT_EQ(over.measured, 890_KiB);
    ASSERT_EQ(over.calls.size(), 2u);
    EXPECT_EQ(over.calls[0].bytes, 800_KiB) << "and not what was there when it was passed first";
    EXPECT_EQ(over.calls[0].place.stack.front().offset, 0x3000u);
    EXPECT_EQ(outcome(log, "limit count-live 1").calls.size(), 2u);
}

TEST(HoldRules, WhatGoesWithItsContextIsAliveNoMore)
{
    LogBuilder log = program_with_stacks();
    log.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 4_KiB, 1).context_gone(1);
    log.context(2).place({.context = 2, .device = 0}).alloc(0x1000, 4_KiB, 1);
    EXPECT_EQ(measured(log, "limit peak 1MiB"), 4_KiB);
    EXPECT_EQ(measured(log, "limit live 1MiB"), 4_KiB);
}

TEST(HoldRules, Contexts)
{
    LogBuilder log = program_with_stacks();
    log.info("recorded", "contexts");
    const auto opened = [&](std::uint64_t id, std::int64_t device, std::uint64_t stack) {
        format::ContextOpened record;
        record.context = id;
        record.stack = stack;
        log.context(id, device).add(record);
    };
    opened(1, 0, 1);
    opened(2, 1, 2);
    log.alloc(0x1000, 4_KiB, 1).context_gone(2);
    opened(3, 1, 2);
    EXPECT_EQ(measured(log, "forbid context"), 3u);
    EXPECT_EQ(measured(log, "forbid context not device 0"), 2u);
    EXPECT_EQ(measured(log, "limit count-live 1 of context"), 2u);
    EXPECT_EQ(measured(log, "limit count-live 1 of context device 1"), 1u);
    EXPECT_NE(outcome(program_with_steps(), "limit count-live 1 of context").unknown, "")
        << "an older log does not say";
}

TEST(HoldRules, ObjectsThatLiveAtOnce)
{
    LogBuilder log = program_with_stacks();
    log.info("recorded", "contexts objects");
    log.alloc(0x10, 0, 1, "cuStreamCreate").alloc(0x20, 0, 1, "cuStreamCreate");
    log.free(0x10, "cuStreamDestroy_v2").alloc(0x30, 0, 1, "cuStreamCreate");
    log.alloc(0x40, 0, 1, "cuEventCreate");
    EXPECT_EQ(measured(log, "limit count-live 1 of stream"), 2u);
    EXPECT_EQ(measured(log, "limit count-live 1 of event"), 1u);
    EXPECT_EQ(measured(log, "limit count-live 1"), 0u) << "they are no blocks";
    EXPECT_EQ(measured(log, "forbid stream"), 3u);
    EXPECT_EQ(measured(log, "forbid event"), 1u);
    EXPECT_EQ(measured(log, "forbid module"), 0u);
    EXPECT_NE(outcome(program_with_steps(), "forbid stream").unknown, "");
    EXPECT_NE(outcome(program_with_steps(), "limit count-live 1 of stream").unknown, "");
}

TEST(HoldRules, OwnersAddUp)
{
    const LogBuilder log = program_with_steps();
    const std::vector<RuleOutcome> found = outcomes(log, "owner host kind pinned\n"
                                                         "owner all device 0\n"
                                                         "a: limit peak 1MiB owner host\n"
                                                         "b: limit peak 1MiB owner all\n"
                                                         "c: limit peak 1MiB owner other\n");
    EXPECT_EQ(found[0].measured, 16_KiB) << "the first that matches has it";
    EXPECT_EQ(found[1].measured, 12_KiB);
    EXPECT_EQ(found[2].measured, 0u);
}

TEST(HoldRules, OwnersOfADeviceAddUpToAllOfIt)
{
    LogBuilder log = program_with_steps();
    log.place({.context = 2, .device = 1}).alloc(0x9000, 1_MiB, 1);
    const TempFile file([] {
        const std::string text = "owner \"one\" kind pinned\nowner two device 1\n";
        return Bytes(text.begin(), text.end());
    }());
    Options options;
    add_owners_file(options.rules, file.path());
    const Report report = test::report_of(log, options);
    ASSERT_EQ(report.by_owner.size(), 3u);
    const OwnerSums& other = report.by_owner[0];
    EXPECT_EQ(other.owner, "other");
    EXPECT_EQ(other.device, 0);
    EXPECT_EQ(other.allocations, 7u);
    EXPECT_EQ(other.at_peak_bytes, report.processes[0].memory[0].peak_allocated());
    EXPECT_EQ(other.live_bytes, 8_KiB);
    EXPECT_EQ(report.by_owner[1].owner, "two");
    EXPECT_EQ(report.by_owner[1].live_blocks, 1u);
    const OwnerSums& host = report.by_owner[2];
    EXPECT_EQ(host.owner, "one");
    EXPECT_EQ(host.device, -1);
    EXPECT_EQ(host.allocated_bytes, 5 * 16_KiB);
}

TEST(HoldRules, ARuleThatNeverAppliedIsNotKept)
{
    const LogBuilder log = program_with_steps();
    for (const char* text :
         {"r: forbid alloc in range epoch*", "r: forbid alloc after mark warm",
          "r: limit peak 1MiB until mark warm", "r: forbid alloc after first 6 of step*",
          "r: forbid alloc module other.so", "r: forbid alloc thread loader"}) {
        const Check check = check_of(log, text);
        EXPECT_EQ(check.exit, Exit::incomplete) << text;
        ASSERT_EQ(check.rows.size(), 1u);
        EXPECT_NE(check.rows[0].remark, "") << text;
        EXPECT_EQ(check_of(log, text, true).exit, Exit::ok) << text;
    }
    EXPECT_EQ(check_of(log, "r: forbid alloc in range step* after first 5 of step*").exit,
              Exit::ok);
    EXPECT_EQ(check_of(log, "r: limit peak 1MiB not module other.so").exit, Exit::ok)
        << "an exception need not be there";
}

// Else such a rule could not be kept at all.
TEST(HoldRules, WhereNothingOfAKindIsThereNothingOfItIsForbidden)
{
    LogBuilder log = program_with_steps();
    log.module(2, 0x600000, 0x600000, 0x700000, "/usr/lib/other.so", "build");
    for (const char* text : {"r: forbid misuse", "r: forbid graph", "r: forbid alloc kind managed",
                             "r: forbid alloc device 3", "r: limit peak 1MiB device 3",
                             "r: forbid alloc module other.so"})
        EXPECT_EQ(check_of(log, text).exit, Exit::ok) << text;
}

TEST(HoldRules, AFreeIsOfTheOwnerOfWhatIsFreed)
{
    LogBuilder log = program_with_stacks();
    log.module(2, 0x600000, 0x600000, 0x700000, "/usr/lib/other.so", "build").stack(20, {0x601001});
    log.place({.context = 1, .device = 0});
    log.alloc(0x1000, 1_MiB, 1).free(0x1000, "cuMemFree_v2", 20).alloc(0x2000, 8, 20);
    const std::string owner = "owner \"A\" module other.so\n";
    EXPECT_EQ(check_of(log, owner + "r: forbid free owner \"A\"").exit, Exit::ok);
    EXPECT_EQ(check_of(log, owner + "r: forbid free owner \"other\"").exit, Exit::findings);
}

TEST(HoldRules, AGraphsNodeIsNoMemoryUntilItIsLaunched)
{
    LogBuilder log = program_with_steps();
    log.alloc(0x900000, 4096, 1, "cuGraphAddMemAllocNode");
    EXPECT_EQ(measured(log, "forbid alloc"), 12u);
    EXPECT_EQ(measured(log, "forbid driver-alloc"), 12u);
    EXPECT_EQ(measured(log, "forbid alloc kind graph"), 1u);
}

TEST(HoldRules, ABrokenRuleFailsWithItsCalls)
{
    const Check check = check_of(program_with_steps(), "steady: forbid alloc in range step*\n"
                                                       "small: limit peak 1KiB\n");
    EXPECT_EQ(check.exit, Exit::findings);
    ASSERT_EQ(check.rows.size(), 2u);
    EXPECT_EQ(check.rows[0].called, "rule steady");
    EXPECT_EQ(check.rows[0].rule, "steady");
    EXPECT_EQ(check.rows[0].measured, 10);
    ASSERT_EQ(check.rows[0].culprits.size(), 2u);
    EXPECT_EQ(check.rows[0].culprits[0].count, 5u);
    EXPECT_EQ(check.rows[1].unit, CheckUnit::bytes);
}

TEST(HoldRules, WhereEventsAreLostNothingIsSaid)
{
    LogBuilder log = program_with_steps();
    log.header().lost[0] = 3;
    EXPECT_EQ(check_of(log, "r: forbid alloc in range step*").exit, Exit::incomplete)
        << "the range's end may be lost";
    EXPECT_EQ(check_of(log, "r: forbid graph", true).exit, Exit::incomplete);
}

TEST(HoldRules, OfSeveralProcessesOneMustHaveTheSteps)
{
    const TempFile one(program_with_steps().build());
    const TempFile other(program_with_stacks().alloc(0x1000, 4_KiB, 1).build());
    const Report report =
        make_report({other.path(), one.path()}, with_rules("r: forbid alloc in range step*"));
    Budget budget;
    budget.fail_on.emplace();
    const Check found = check(report, budget);
    EXPECT_EQ(found.exit, Exit::findings);
    EXPECT_EQ(found.rows[0].failed, std::vector<std::size_t>{1});
}

} // namespace
} // namespace vramscope::report
