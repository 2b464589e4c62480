// tests/report/judge/compared_holdings_test.cpp — what holds leaks, objects, contexts and owners, in two runs.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

LogBuilder recorded_program()
{
    return test::program_with_stacks().info("recorded", "contexts objects");
}

std::string comparison_text(const Comparison& comparison, const Report& now)
{
    std::ostringstream out;
    write_comparison(out, comparison, now, TextStyle{});
    return out.str();
}

// A leak of 1 MiB at stack 1, of which a search said this.
Report searched(std::vector<ReachGroup> groups)
{
    Report report = report_of(recorded_program().alloc(0x1000, 1_MiB, 1));
    report.leaks.at(0).reach = std::move(groups);
    return report;
}

ReachGroup held()
{
    return {Reached::held, ReachDoubt::none, {1_MiB, 1}, {"variable `cache` of train"}};
}

ReachGroup lost()
{
    return {Reached::lost, ReachDoubt::none, {1_MiB, 1}, {}};
}

ReachGroup perhaps()
{
    return {Reached::possibly, ReachDoubt::registers, {1_MiB, 1}, {}};
}

TEST(CompareReach, WhatWasHeldAndIsLostIsToldAndJudgesNothing)
{
    const Report base = searched({held()});
    const Report now = searched({lost()});
    const Comparison comparison = compare(base, now, 0.05);
    ASSERT_EQ(comparison.reach.size(), 1u);
    EXPECT_EQ(comparison.reach[0].change, ReachChange::now_lost);
    EXPECT_EQ(comparison.reach[0].base.how, "by variable `cache` of train");
    EXPECT_EQ(comparison.reach[0].now.lost.bytes, 1_MiB);
    EXPECT_EQ(comparison.verdict, Comparison::Verdict::same);
    const std::string text = comparison_text(comparison, now);
    EXPECT_NE(text.find("held-to-lost"), std::string::npos) << text;
    EXPECT_NE(text.find("base: 1 MiB in 1 block held, by variable `cache` of train"),
              std::string::npos)
        << text;
    const Comparison back = compare(now, base, 0.05);
    ASSERT_EQ(back.reach.size(), 1u);
    EXPECT_EQ(back.reach[0].change, ReachChange::now_held);
}

TEST(CompareReach, WhatIsOnlyPossiblyHeldIsNeither)
{
    for (const auto& [base, now] : {std::pair(perhaps(), lost()), std::pair(lost(), perhaps()),
                                    std::pair(held(), perhaps()), std::pair(held(), held())})
        EXPECT_TRUE(compare(searched({base}), searched({now}), 0.05).reach.empty())
            << name(base.verdict) << name(now.verdict);
    EXPECT_TRUE(compare(searched({held()}), searched({}), 0.05).reach.empty())
        << "only one run was searched";
}

LogBuilder with_streams(std::size_t count, std::uint64_t stack)
{
    LogBuilder log = recorded_program();
    for (std::size_t at = 0; at < count; ++at)
        log.alloc(0x900000 + at, 0, stack, "cuStreamCreate");
    return log;
}

TEST(CompareObjects, TellsThoseThatAreNewGoneOrMore)
{
    const Report base = report_of(with_streams(2, 1));
    const Report now = report_of(with_streams(5, 1).alloc(0x500000, 0, 3, "cuModuleLoad"));
    const Comparison comparison = compare(base, now, 0.05);
    ASSERT_EQ(comparison.objects.size(), 2u);
    EXPECT_EQ(comparison.objects[0].change, Change::added);
    EXPECT_EQ(comparison.objects[0].object, format::Memory::module);
    EXPECT_EQ(comparison.objects[1].change, Change::grown);
    EXPECT_EQ(comparison.objects[1].base_alive, 2u);
    EXPECT_EQ(comparison.objects[1].new_alive, 5u);
    EXPECT_NE(comparison_text(comparison, now).find("2 -> 5 left"), std::string::npos);
    EXPECT_TRUE(compare(base, base, 0.05).objects.empty()) << "as many are left";
    const Comparison back = compare(now, base, 0.05);
    ASSERT_EQ(back.objects.size(), 2u);
    EXPECT_EQ(back.objects.back().change, Change::gone);
}

TEST(CompareObjects, OfALogThatDoesNotRecordThemNothingIsNewOrGone)
{
    const Report old = report_of(test::program_with_stacks());
    const Report now = report_of(with_streams(5, 1));
    const Comparison comparison = compare(old, now, 0.05);
    EXPECT_TRUE(comparison.objects.empty());
    ASSERT_EQ(comparison.not_compared.size(), 2u);
    EXPECT_EQ(comparison.not_compared[0], "objects, which base does not record");
    EXPECT_NE(comparison_text(comparison, now).find("Not compared: objects, which base"),
              std::string::npos);
}

TEST(CompareObjects, AContextOnAnotherDeviceIsNew)
{
    const auto opened = [](LogBuilder log, std::uint64_t context, std::int64_t device) {
        format::ContextOpened record;
        record.context = context;
        record.opening = format::Opening::retained;
        record.stack = context;
        log.context(context, device).context_opened(record);
        return log;
    };
    const LogBuilder one = opened(recorded_program(), 1, 1);
    const Report now = report_of(opened(one, 2, 0));
    const Comparison comparison = compare(report_of(one), now, 0.05);
    ASSERT_EQ(comparison.objects.size(), 1u);
    EXPECT_EQ(comparison.objects[0].object, format::Memory::context);
    EXPECT_EQ(comparison.objects[0].device, 0);
    EXPECT_EQ(comparison.objects[0].change, Change::added);
}

TEST(CompareOwners, SumsUpProcessesAndTakesTheHighestPeak)
{
    Report base = report_of(recorded_program());
    base.by_owner = {{"KV cache", 0, 0, 2, 20, 10, 4, 1}, {"KV cache", 0, 1, 1, 7, 7, 1, 1}};
    Report now = base;
    now.by_owner = {{"other", -1, 0, 1, 5, 0, 5, 1}};
    const Comparison comparison = compare(base, now, 0.05);
    ASSERT_EQ(comparison.owners.size(), 2u);
    EXPECT_EQ(comparison.owners[0].owner, "other") << "the host first";
    const ComparedOwner& cache = comparison.owners[1];
    EXPECT_EQ(cache.base.at_peak_bytes, 10u);
    EXPECT_EQ(cache.base.live_bytes, 5u);
    EXPECT_EQ(cache.base.allocated_bytes, 27u);
    EXPECT_EQ(cache.now.live_bytes, 0u);
    EXPECT_NE(comparison_text(comparison, now).find("Memory by owner, device 0"),
              std::string::npos);
}

} // namespace
} // namespace vramscope::report
