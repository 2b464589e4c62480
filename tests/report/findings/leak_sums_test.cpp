// tests/report/findings/leak_sums_test.cpp — one leak over many call stacks is told as one, too.
#include "report/findings/leak_sums.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;

constexpr std::uint64_t kDepths = 40;

// Stack N is of a recursion that is N deep; 101 and 102 are two lines of one other function.
LogBuilder program_of_sums()
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/tree", "build");
    for (std::uint64_t depth = 1; depth <= kDepths; ++depth) {
        std::vector<std::uint64_t> stack{0x401001};
        stack.insert(stack.end(), depth, 0x401101);
        stack.push_back(0x409001);
        log.stack(depth, stack);
    }
    log.stack(101, {0x402001, 0x409001}).stack(102, {0x402011, 0x409001});
    log.place({.context = 1, .device = 0});
    return log;
}

// Each step has one block, at a depth of its own.
LogBuilder leak_per_step(std::uint64_t steps)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t step = 0; step < steps; ++step)
        log.push("step").alloc(0x10000 + step * 0x1000, 1000, 1 + step * 17 % kDepths).pop();
    return log;
}

std::string leaks_text(const Report& report)
{
    std::ostringstream out;
    write_leaks(out, report);
    return out.str();
}

TEST(LeakSums, ALeakPerStepOverTheDepthsOfARecursionGrowsAsASum)
{
    const Report report = report_of(leak_per_step(200));
    EXPECT_EQ(report.leaks.size(), kDepths);
    ASSERT_EQ(report.sums.size(), 1u);
    const LeakSum& sum = report.sums[0];
    EXPECT_EQ(sum.stacks, kDepths);
    EXPECT_EQ(sum.blocks, 200u);
    EXPECT_EQ(sum.bytes, 200'000u);
    EXPECT_EQ(sum.kind, LeakKind::at_exit);
    EXPECT_EQ(sum.device, 0);
    ASSERT_EQ(sum.stack.size(), 1u);
    EXPECT_EQ(sum.stack[0].offset, 0x1000u);
    EXPECT_EQ(sum.leak_class, LeakClass::growing);
    EXPECT_EQ(sum.rate.per, "step");
    EXPECT_NEAR(sum.rate.bytes_per_step, 1000, 50);
    EXPECT_NE(
        leaks_text(report).find("\n40 call stacks share tree+0x1000: 195.3 KiB in 200 blocks, "
                                "leaked-at-exit, growing by 1000 B per\nstep, 99.9 % sure\n"),
        std::string::npos)
        << leaks_text(report);
}

// Each depth has two or three blocks of 100: none of them shows that it grows.
TEST(LeakSums, AFunctionThatGrowsIsGrowthThoughNoneOfItsCallStacksShowsIt)
{
    const Report report = report_of(leak_per_step(100));
    ASSERT_EQ(report.growth.size(), 1u);
    EXPECT_EQ(report.growth[0].stacks, kDepths);
    EXPECT_NEAR(report.growth[0].rate.bytes_per_step, 1000, 50);
    ASSERT_EQ(report.headlines.size(), 2u);
    EXPECT_EQ(report.headlines[1].kind, HeadlineKind::growth);
    EXPECT_NE(report.headlines[1].rest.find(", from 40 call stacks"), std::string::npos)
        << report.headlines[1].rest;
    EXPECT_EQ(check(report, fail_on({Finding::growth})).exit, Exit::findings);
}

TEST(LeakSums, ObjectsThatPileUpThroughManyCallStacksAreOneRow)
{
    LogBuilder log = program_of_sums();
    log.info("recorded", "contexts objects");
    for (std::uint64_t step = 0; step < 100; ++step)
        log.push("step")
            .alloc(0x10000 + step * 0x1000, 0, 1 + step * 17 % kDepths, "cuStreamCreate")
            .pop();
    const Report report = report_of(log);
    ASSERT_EQ(report.objects.size(), 1u);
    EXPECT_TRUE(report.objects[0].piles_up());
    EXPECT_EQ(report.objects[0].stacks, kDepths);
    EXPECT_EQ(report.objects[0].made, 100u);
    EXPECT_EQ(report.objects[0].blocks, 100u);
    EXPECT_EQ(report.headlines.front().kind, HeadlineKind::objects);
    EXPECT_EQ(check(report, fail_on({Finding::growth})).exit, Exit::findings);
}

// A helper has a call stack for each caller, and each grows by itself.
TEST(LeakSums, TheHeadlineTellsOfAllCallStacksOfTheFunctionThatGrows)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t step = 0; step < 400; ++step)
        log.push("step").alloc(0x10000 + step * 0x1000, 1000, 1 + step % 2).pop();
    const Report report = report_of(log);
    EXPECT_EQ(report.growth.size(), 2u);
    const std::string rest = report.headlines.back().rest;
    EXPECT_EQ(rest.find(": 1000 B per step"), 0u) << rest;
    EXPECT_NE(rest.find(", from 2 call stacks"), std::string::npos) << rest;
}

TEST(LeakSums, OneLargeBlockIsNoGrowthOfEachCall)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t call = 0; call < 200; ++call)
        log.alloc(0x1000, 8, 101)
            .free(0x1000)
            .alloc(0x1000000 * (call + 1), call == 5 ? 10'000'000 : 1000, 1);
    const Report report = report_of(log);
    ASSERT_EQ(report.growth.size(), 1u);
    EXPECT_NEAR(report.growth[0].rate.bytes_per_call, 1000, 100);
}

// Half of them is the last one, and none of them was one of its kind.
TEST(LeakSums, LargerAndLargerBlocksAreGrowthOfEachCallInTheMean)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t turn = 0; turn < 10; ++turn) {
        for (int other = 0; other < 20; ++other)
            log.alloc(0x1000, 8, 101).free(0x1000);
        log.alloc(0x1000000 * (turn + 1), 1000u << turn, 1);
    }
    const Report report = report_of(log);
    ASSERT_EQ(report.growth.size(), 1u);
    EXPECT_NEAR(report.growth[0].rate.bytes_per_call, 1023.0 / 10 * 1000, 1000);
}

TEST(LeakSums, AreInTheSummaryToo)
{
    std::ostringstream out;
    write_summary(out, report_of(leak_per_step(200)));
    EXPECT_NE(out.str().find("vramscope:   40 call stacks share tree+0x1000: "), std::string::npos)
        << out.str();
}

TEST(LeakSums, SayTheirDevicesWhereTheyDiffer)
{
    LogBuilder log = program_of_sums();
    for (std::int16_t device = 0; device < 2; ++device) {
        log.place({.context = device + 1u, .device = device});
        for (std::uint64_t depth = 1; depth <= 4; ++depth)
            log.alloc((device * 10u + depth) * 0x1000, 8, depth);
    }
    const std::string text = leaks_text(report_of(log));
    EXPECT_NE(text.find(", device 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find(", device 1\n"), std::string::npos) << text;
}

TEST(LeakSums, TheSummarySaysHowManyMoreThereAre)
{
    LogBuilder log = program_of_sums();
    for (std::int16_t device = 0; device < 5; ++device) {
        log.place({.context = device + 1u, .device = device});
        for (std::uint64_t depth = 1; depth <= 4; ++depth)
            log.alloc((device * 10u + depth) * 0x1000, 8, depth);
    }
    std::ostringstream out;
    write_summary(out, report_of(log));
    EXPECT_NE(out.str().find("vramscope:   ... and 2 more such sums\n"), std::string::npos)
        << out.str();
    EXPECT_EQ(leaks_text(report_of(log)).find("such sum"), std::string::npos) << "it has them all";
}

TEST(Summary, TellsItsRowsFromThoseThatItDoesNotShow)
{
    LogBuilder log = program_of_sums();
    log.stack(201, {0x401001, 0x402001}).stack(202, {0x401001, 0x403001});
    for (std::int16_t device = 0; device < 3; ++device)
        log.place({.context = device + 1u, .device = device})
            .alloc(0x10000 + device * 0x1000u, 8000, 201);
    log.alloc(0x20000, 8, 202);
    std::ostringstream out;
    write_summary(out, report_of(log));
    EXPECT_NE(out.str().find("cuMemAlloc  tree+0x2000, device 1\n"), std::string::npos)
        << out.str();
    EXPECT_EQ(out.str().find("tree+0x3000"), std::string::npos) << "it is not shown";
}

TEST(LeakSums, AreInTheJson)
{
    std::ostringstream out;
    write_json(out, report_of(leak_per_step(200)));
    const auto sums = nlohmann::json::parse(out.str())["leaks_by_function"];
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(sums[0]["stacks"], kDepths);
    EXPECT_EQ(sums[0]["class"], "growing");
    EXPECT_EQ(sums[0]["frame"]["offset"], "0x1000");
    EXPECT_EQ(sums[0]["growth"]["per"], "step");
}

TEST(LeakSums, RowsWithLinesOfTheirOwnAreNotSummedUp)
{
    const Report report = report_of(program_of_sums().alloc(0x1000, 1, 101).alloc(0x2000, 1, 102));
    EXPECT_EQ(report.leaks.size(), 2u);
    EXPECT_TRUE(report.sums.empty());
    EXPECT_EQ(leaks_text(report).find("share"), std::string::npos);
}

TEST(LeakSums, MemoriesAreSummedUpApart)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t depth = 1; depth <= 4; ++depth)
        log.alloc(depth * 0x1000, 8, depth, depth % 2 ? "cuMemAlloc_v2" : "cuMemAllocManaged");
    const Report report = report_of(log);
    ASSERT_EQ(report.sums.size(), 2u);
    EXPECT_EQ(report.sums[0].stacks, 2u);
    EXPECT_NE(report.sums[0].memory, report.sums[1].memory);
}

TEST(LeakSums, WhatIsFreedIsInNone)
{
    LogBuilder log = program_of_sums();
    for (std::uint64_t depth = 1; depth <= 4; ++depth)
        log.alloc(depth * 0x1000, 8, depth).free(depth * 0x1000);
    EXPECT_TRUE(report_of(log.alloc(0x9000, 1, 1)).sums.empty());
}

TEST(LeakSums, KnownLeaksAreInNone)
{
    Options options;
    options.suppressions.add_text("leak:/gone/tree", "rules");
    const Report report = report_of(leak_per_step(200), options);
    EXPECT_EQ(report.suppressed.size(), kDepths);
    EXPECT_TRUE(report.sums.empty());
}

} // namespace
} // namespace vramscope::report
