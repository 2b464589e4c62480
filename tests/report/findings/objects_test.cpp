// tests/report/findings/objects_test.cpp — the driver's objects by call stack: made, ended, left.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::GrowthScene;
using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

std::string objects_text(const Report& report)
{
    std::ostringstream out;
    write_objects(out, report, TextStyle{});
    return out.str();
}

const ObjectRow& row_of_kind(const Report& report, format::Memory object)
{
    static const ObjectRow kNone;
    for (const ObjectRow& row : report.objects)
        if (row.memory == object)
            return row;
    ADD_FAILURE() << "no row of " << format::name(object);
    return kNone;
}

// A stream that stays in each step, and an event that does not; a module for all of them.
LogBuilder with_streams_that_stay()
{
    GrowthScene scene;
    scene.log.info("recorded", "contexts objects").alloc(0x500000, 0, 3, "cuModuleLoad");
    scene.steps(100, [&](std::size_t step) {
        scene.flash(test::kOther);
        scene.log.alloc(0x900000 + step, 0, test::kLeak, "cuStreamCreate");
        scene.log.alloc(0x900000, 0, test::kOther, "cuEventCreate");
        scene.log.free(0x900000, "cuEventDestroy_v2");
    });
    return scene.log;
}

Budget at_most(std::uint64_t objects)
{
    Budget budget;
    budget.max_leaked_objects = objects;
    return budget;
}

TEST(Objects, TheFindingCountsThoseThatAreLeft)
{
    LogBuilder log = with_streams_that_stay();
    for (std::size_t step = 0; step < 95; ++step)
        log.free(0x900000 + step, "cuStreamDestroy_v2");
    const Report report = report_of(log);
    ASSERT_EQ(report.headlines.front().kind, HeadlineKind::objects);
    EXPECT_EQ(report.headlines.front().title, "Never destroyed");
    EXPECT_EQ(report.headlines.front().rest.find(": 5 streams, "), 0u)
        << report.headlines.front().rest;
}

TEST(Objects, AreCountedByCallStackAndByKind)
{
    const Report report = report_of(with_streams_that_stay());
    ASSERT_EQ(report.objects.size(), 3u);
    const ObjectRow& streams = report.objects.front();
    EXPECT_EQ(streams.memory, format::Memory::stream);
    EXPECT_EQ(streams.made, 100u);
    EXPECT_EQ(streams.ended, 0u);
    EXPECT_EQ(streams.blocks, 100u);
    EXPECT_EQ(streams.leak_class, LeakClass::growing);
    EXPECT_EQ(streams.rate.blocks_per_step, 1);
    EXPECT_GT(streams.rate.confidence, 0.99);
    EXPECT_TRUE(streams.piles_up());
    EXPECT_FALSE(streams.fingerprint.empty());
    const ObjectRow& events = row_of_kind(report, format::Memory::event);
    EXPECT_EQ(events.made, 100u);
    EXPECT_EQ(events.ended, 100u);
    EXPECT_FALSE(events.is_left());
    EXPECT_FALSE(row_of_kind(report, format::Memory::module).piles_up());
    ASSERT_EQ(report.processes[0].objects.size(), 3u);
    const std::string text = objects_text(report);
    EXPECT_NE(text.find("stream: 100 made, 0 ended, 100 left, growing"), std::string::npos) << text;
}

TEST(Objects, HaveAClassByTheirNumberWhereNothingTellsMore)
{
    GrowthScene scene;
    scene.log.info("recorded", "contexts objects");
    scene.steps(100, [&](std::size_t step) {
        scene.flash(test::kOther);
        if (step == 90)
            scene.log.alloc(0x500000, 0, 3, "cuModuleLoad");
        if (step == 90 || step == 93)
            scene.log.alloc(0x600000 + step, 0, 4, "cuStreamCreate");
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(row_of_kind(report, format::Memory::module).leak_class, LeakClass::once);
    EXPECT_EQ(row_of_kind(report, format::Memory::stream).leak_class, LeakClass::several);
}

TEST(Objects, AreNoMemoryNoLeaksAndNoGrowthOfIt)
{
    const Report report = report_of(with_streams_that_stay());
    EXPECT_EQ(report.totals.allocations, 100u);
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_TRUE(report.leaks.empty());
    EXPECT_TRUE(report.owners.empty());
    EXPECT_TRUE(report.growth.empty());
    EXPECT_EQ(report.headlines.front().kind, HeadlineKind::objects);
    EXPECT_EQ(report.headlines.front().rest.find(": 100 streams, "), 0u)
        << report.headlines.front().rest;
}

TEST(Objects, GoWithTheirContexts)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0, .stream = 0, .pool = 0, .capturing = false});
    log.alloc(0x1000, 0, 0, "cuStreamCreate").alloc(0x2000, 0, 0, "cuEventCreate");
    log.alloc(0x3000, 0, 0, "cuGraphCreate").alloc(0x4000, 0, 0, "cuLibraryLoadData");
    log.context_gone(1);
    const Report report = report_of(log);
    EXPECT_FALSE(row_of_kind(report, format::Memory::stream).is_left());
    EXPECT_FALSE(row_of_kind(report, format::Memory::event).is_left());
    EXPECT_TRUE(row_of_kind(report, format::Memory::graph_object).is_left());
    EXPECT_TRUE(row_of_kind(report, format::Memory::library).is_left());
}

TEST(Objects, WithOneHandleAreDifferentOnesIfTheirKindsAre)
{
    LogBuilder log;
    log.alloc(0x1000, 0, 0, "cuStreamCreate").alloc(0x1000, 0, 0, "cuEventCreate");
    log.alloc(0x1000, 4096).free(0x1000, "cuEventDestroy_v2");
    const Report report = report_of(log);
    EXPECT_TRUE(row_of_kind(report, format::Memory::stream).is_left());
    EXPECT_FALSE(row_of_kind(report, format::Memory::event).is_left());
    EXPECT_EQ(report.totals.leaked_bytes, 4096u);
}

// Of a context's limit only the last setting is alive, which the program cannot end.
TEST(Objects, OfALimitTheLastSettingStaysAndIsNotHeldAgainstABudget)
{
    LogBuilder log = with_streams_that_stay();
    log.alloc(0x101, 0, 1, "cuCtxSetLimit").alloc(0x102, 0, 1, "cuCtxSetLimit");
    for (int again = 0; again < 3; ++again)
        log.alloc(0x101, 0, 2, "cuCtxSetLimit");
    const Report report = report_of(log);
    const ObjectTotal& limits = report.processes[0].objects.back();
    EXPECT_EQ(limits.object, format::Memory::context_limit);
    EXPECT_EQ(limits.made, 5u);
    EXPECT_EQ(limits.ended, 0u);
    EXPECT_EQ(limits.alive, 2u);
    EXPECT_EQ(report.processes[0].coverage.missed_frees, 0u);
    EXPECT_EQ(check(report, at_most(101)).exit, Exit::ok);
}

TEST(Objects, ThatAreLeftAreHeldAgainstABudget)
{
    EXPECT_EQ(check(report_of(with_streams_that_stay()), at_most(101)).exit, Exit::ok);
    EXPECT_EQ(check(report_of(with_streams_that_stay()), at_most(100)).exit, Exit::findings);
}

TEST(Objects, ThatAreOverABudgetAreNamed)
{
    const Check checked = check(report_of(with_streams_that_stay()), at_most(2));
    ASSERT_EQ(checked.rows.size(), 2u);
    const std::vector<Culprit>& left = checked.rows[1].culprits;
    ASSERT_EQ(left.size(), 2u);
    EXPECT_EQ(left[0].count, 100u) << "the most first";
    EXPECT_EQ(left[1].count, 1u);
}

// As streams of a pool that is destroyed as the program ends, and with cudaDeviceReset().
TEST(Objects, ThatPiledUpAreToldThoughTheyEndWithTheProgram)
{
    for (const bool reset : {false, true}) {
        LogBuilder log = with_streams_that_stay();
        for (std::size_t step = 0; step < 100 && !reset; ++step)
            log.free(0x900000 + step, "cuStreamDestroy_v2");
        if (reset)
            log.context_gone(1);
        const Report report = report_of(log);
        const ObjectRow& streams = row_of_kind(report, format::Memory::stream);
        EXPECT_FALSE(streams.is_left());
        EXPECT_TRUE(streams.piles_up());
        EXPECT_GE(streams.at_once, 90u);
        EXPECT_LE(streams.at_once, 100u);
        EXPECT_FALSE(row_of_kind(report, format::Memory::event).piles_up());
        EXPECT_EQ(report.headlines.front().kind, HeadlineKind::objects);
        EXPECT_EQ(report.headlines.front().title, "Destroyed late");
        EXPECT_EQ(check(report, fail_on({Finding::growth})).exit, Exit::findings);
        EXPECT_NE(objects_text(report).find("0 left, at least "), std::string::npos)
            << objects_text(report);
    }
}

// What was alive when it crashed might have been destroyed, and what was lost may be an end.
TEST(Objects, PassAndFailNoBudgetWhereSomethingIsMissing)
{
    for (const std::uint64_t most : {100, 101}) {
        LogBuilder lossy = with_streams_that_stay();
        lossy.header().lost[0] = 1;
        EXPECT_EQ(check(report_of(lossy), at_most(most)).exit, Exit::incomplete);
        EXPECT_EQ(check(report_of(killed(with_streams_that_stay())), at_most(most)).exit,
                  Exit::incomplete);
    }
    EXPECT_EQ(check(report_of(clean()), at_most(0)).exit, Exit::incomplete) << "not recorded";
    EXPECT_NE(objects_text(report_of(clean())).find("Not recorded: streams"), std::string::npos);
}

} // namespace
} // namespace vramscope::report
