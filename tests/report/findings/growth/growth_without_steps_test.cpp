// tests/report/findings/growth/growth_without_steps_test.cpp — growth per call.
//
// The programs do not mark their steps.
#include <gtest/gtest.h>

#include "report/model/growth.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"

namespace vramscope::report {
namespace {

using test::class_at;
using test::growth_at;
using test::GrowthScene;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;
using test::Addresses;
using test::kLeak;
using test::kOther;

TEST(GrowthWithoutSteps, RateOfWhatIsNeverFreedIsExact)
{
    for (const int turns : {55, 60, 100, 1000}) {
        GrowthScene scene;
        for (int turn = 0; turn < turns; ++turn) {
            scene.flash(kOther);
            scene.take(kLeak);
        }
        const Report report = report_of(scene.log);
        const Growth* const growth = growth_at(report, kLeak);
        ASSERT_NE(growth, nullptr) << turns;
        EXPECT_EQ(growth->rate.bytes_per_step, 1_MiB) << turns;
        EXPECT_EQ(growth->rate.blocks_per_step, 1) << turns;
    }
}

struct KeepingScene : GrowthScene {
    Addresses kept;
};

// 60 turns of 1 ms.
KeepingScene kept_over_60_turns()
{
    KeepingScene scene;
    for (int turn = 0; turn < 60; ++turn) {
        scene.flash(kOther);
        scene.kept.push_back(scene.take(kLeak));
        scene.sleep(1'000'000);
    }
    return scene;
}

// What the turns keep is freed at the end, block by block.
KeepingScene freed_at_the_end(std::uint64_t pause_ns, std::uint64_t ns_of_a_free)
{
    KeepingScene scene = kept_over_60_turns();
    scene.sleep(pause_ns);
    for (const std::uint64_t address : scene.kept) {
        scene.give(address);
        scene.sleep(ns_of_a_free);
    }
    return scene;
}

TEST(GrowthWithoutSteps, LastPurgeIsNoWorkHoweverLongItTakes)
{
    for (const std::uint64_t ns_of_a_free : {1'000, 1'000'000, 50'000'000}) {
        KeepingScene scene = freed_at_the_end(0, ns_of_a_free);
        scene.log.header().exit_began_ticks = scene.log.now();
        const Report report = report_of(scene.log);
        ASSERT_NE(growth_at(report, kLeak), nullptr) << ns_of_a_free;
        EXPECT_TRUE(growth_at(report, kLeak)->freed);
        EXPECT_EQ(report.verdict, Verdict::clean);
    }
}

TEST(GrowthWithoutSteps, UpToAMomentTheEndOfTheProgramIsNotKnown)
{
    KeepingScene scene = kept_over_60_turns();
    const std::uint64_t now = scene.log.now();
    scene.sleep(20'000'000'000);
    scene.log.header().exit_began_ticks = scene.log.now();
    EXPECT_EQ(growth_at(report_of(scene.log), kLeak), nullptr) << "it computed for long";
    Options options;
    options.until_ticks = now;
    EXPECT_NE(growth_at(report_of(scene.log, options), kLeak), nullptr);
}

// A loaded machine may stop a program for a while, anywhere.
TEST(GrowthWithoutSteps, PurgeThatWasInterruptedIsStillThePurge)
{
    for (const std::size_t stopped : {0, 1, 30, 59}) {
        KeepingScene scene = kept_over_60_turns();
        for (std::size_t block = 0; block < scene.kept.size(); ++block) {
            scene.sleep(block == stopped ? 200'000'000 : 5'000'000);
            scene.give(scene.kept[block]);
        }
        scene.log.header().exit_began_ticks = scene.log.now();
        EXPECT_NE(growth_at(report_of(scene.log), kLeak), nullptr) << stopped;
    }
}

TEST(GrowthWithoutSteps, WorkWithoutAllocationsIsWork)
{
    KeepingScene scene = freed_at_the_end(1'000'000'000, 1'000);
    scene.log.header().exit_began_ticks = scene.log.now();
    EXPECT_EQ(growth_at(report_of(scene.log), kLeak), nullptr);
}

TEST(GrowthWithoutSteps, EndOfAnInterpreterMayTakeSeconds)
{
    for (const std::uint64_t seconds : {1, 4, 10}) {
        KeepingScene scene = freed_at_the_end(seconds * 1'000'000'000, 20'000'000);
        scene.log.info("python", "3.13.0");
        scene.log.header().python_ended_ticks = scene.log.now() - 1'000'000'000;
        scene.log.header().exit_began_ticks = scene.log.now();
        EXPECT_EQ(growth_at(report_of(scene.log), kLeak) != nullptr, seconds < 10) << seconds;
    }
}

// On a machine that is loaded the end of an interpreter is slow, as was all before it.
TEST(GrowthWithoutSteps, EndOfAnInterpreterIsAsSlowAsItsWork)
{
    for (const std::uint64_t ns_of_a_turn : {10'000'000, 400'000'000}) {
        KeepingScene scene;
        for (int turn = 0; turn < 60; ++turn) {
            scene.flash(kOther);
            scene.kept.push_back(scene.take(kLeak));
            scene.sleep(ns_of_a_turn);
        }
        scene.sleep(8'000'000'000);
        scene.give(scene.kept);
        scene.log.info("python", "3.13.0");
        scene.log.header().exit_began_ticks = scene.log.now();
        EXPECT_EQ(growth_at(report_of(scene.log), kLeak) != nullptr, ns_of_a_turn > 100'000'000)
            << ns_of_a_turn;
    }
}

TEST(GrowthWithoutSteps, ProgramThatGoesOnWithoutItsInterpreterHasNotEnded)
{
    KeepingScene scene = freed_at_the_end(0, 1'000);
    scene.log.info("python", "3.13.0");
    scene.log.header().python_ended_ticks = scene.log.now();
    scene.sleep(20'000'000'000);
    for (int turn = 0; turn < 100; ++turn)
        scene.flash(kOther);
    EXPECT_EQ(growth_at(report_of(scene.log), kLeak), nullptr);
}

// As PyTorch makes an event for each pinned block, while Python destroys its tensors.
TEST(GrowthWithoutSteps, WhatTheEndMakesIsNoWork)
{
    KeepingScene scene;
    for (int turn = 0; turn < 100; ++turn) {
        scene.flash(kOther);
        scene.kept.push_back(scene.take(kLeak));
        scene.sleep(1'000'000);
    }
    scene.log.info("python", "3.13.0").info("recorded", "contexts objects");
    scene.sleep(200'000'000);
    scene.log.header().python_ended_ticks = scene.log.now();
    for (std::uint64_t event = 0; event < 100; ++event)
        scene.log.at(scene.log.now() + 1000).alloc(0x900000 + event, 0, 3, "cuEventCreate");
    scene.give(scene.kept);
    scene.log.header().exit_began_ticks = scene.log.now();
    const Report report = report_of(scene.log);
    EXPECT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_FALSE(report.objects.at(0).piles_up()) << "they were made by the end";
}

TEST(GrowthWithoutSteps, RequestThatIsRefusedIsWork)
{
    for (const bool refused : {false, true}) {
        KeepingScene scene = freed_at_the_end(0, 1'000);
        if (refused)
            scene.log.out_of_memory(format::OutOfMemory{.requested = 1_MiB});
        EXPECT_EQ(growth_at(report_of(scene.log), kLeak) == nullptr, refused);
    }
}

TEST(GrowthWithoutSteps, BlockInEachTurnOfALoopGrows)
{
    GrowthScene scene;
    scene.take(3, 100_MiB);
    scene.leak_in_turns(100);
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(class_at(report, 3), "start-up");
    const Growth* const growth = growth_at(report, kLeak);
    ASSERT_NE(growth, nullptr);
    EXPECT_EQ(growth->rate.per, "");
    EXPECT_NEAR(growth->rate.bytes_per_call, 1_MiB, 30_KiB);
    EXPECT_EQ(growth->rate.bytes_per_step, growth->rate.bytes_per_call);
    EXPECT_GT(growth->rate.bytes_per_second, 0);
}

TEST(GrowthWithoutSteps, HeavyTemporariesAtTheSamePlaceDoNotHideIt)
{
    GrowthScene scene;
    for (int turn = 0; turn < 300; ++turn)
        scene.leak_among(1 + scene.below(30), kLeak, 64_KiB);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

TEST(GrowthWithoutSteps, LoadingThatTakesMostOfTheTimeIsStartUp)
{
    GrowthScene scene;
    for (int tensor = 0; tensor < 1000; ++tensor) {
        scene.flash(3);
        scene.take(kLeak);
        scene.sleep(1'000'000);
    }
    for (int turn = 0; turn < 10'000; ++turn) {
        scene.flash(kOther);
        scene.sleep(25'000);
    }
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "start-up");
}

TEST(GrowthWithoutSteps, LoadingWithAShortLoopBehindItIsNotGrowing)
{
    GrowthScene scene;
    for (std::size_t tensor = 0; tensor < 1000; ++tensor) {
        scene.take(kLeak, 1_KiB * (1 + tensor % 7));
        scene.sleep(1'000'000);
    }
    for (int turn = 0; turn < 50; ++turn) {
        scene.flash(kOther);
        scene.sleep(5'000'000);
    }
    EXPECT_NE(class_at(report_of(scene.log), kLeak), "growing");
}

TEST(GrowthWithoutSteps, LoopBehindManyEventsOfStartUpIsSeen)
{
    for (const std::uint64_t start_up_stack : {kOther, kLeak}) {
        GrowthScene scene;
        for (int event = 0; event < 50'000; ++event)
            scene.flash(start_up_stack);
        for (int turn = 0; turn < 100; ++turn) {
            scene.sleep(5'000'000);
            scene.flash(3);
            scene.take(kLeak);
        }
        EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing") << start_up_stack;
    }
}

TEST(GrowthWithoutSteps, LoopBeforeALongSleepIsNotGrowingAnyMore)
{
    GrowthScene scene;
    scene.leak_in_turns(100);
    scene.sleep(100'000'000'000);
    scene.flash(3);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "start-up");
}

TEST(GrowthWithoutSteps, LoopThatGrewNoMoreIsBounded)
{
    for (const int end : {300, 600, 800}) {
        GrowthScene scene;
        for (int turn = 0; turn < 1000; ++turn) {
            scene.flash(kOther);
            if (turn < end)
                scene.take(kLeak);
        }
        const Report report = report_of(scene.log);
        EXPECT_EQ(class_at(report, kLeak), end == 300 ? "start-up" : "cache") << end;
        EXPECT_TRUE(report.growth.empty());
    }
}

TEST(GrowthWithoutSteps, LoopBeforeALongWaitIsNotSaidToHaveStopped)
{
    GrowthScene scene;
    for (int turn = 0; turn < 100; ++turn) {
        scene.flash(kOther);
        scene.take(kLeak);
        scene.sleep(100'000'000);
    }
    scene.sleep(6'000'000'000);
    scene.flash(3);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "unclear");
}

TEST(GrowthWithoutSteps, FewBlocksOfVaryingSizeAreSeveral)
{
    GrowthScene scene;
    for (std::size_t layer = 0; layer < 12; ++layer)
        scene.take(kLeak, 1_MiB * (1 + layer % 3));
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "several");
}

TEST(GrowthWithoutSteps, FillingUpAndFreeingAllIsNotGrowing)
{
    GrowthScene scene;
    Addresses all;
    for (int block = 0; block < 13; ++block)
        all.push_back(scene.take(kLeak, 4_MiB));
    scene.give(all);
    EXPECT_TRUE(report_of(scene.log).growth.empty());
}

TEST(GrowthWithoutSteps, ManyBlocksOfOneSizeUpToTheEndAreGrowing)
{
    GrowthScene scene;
    for (int turn = 0; turn < 100; ++turn)
        scene.take(kLeak);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

TEST(GrowthWithoutSteps, RandomWalksAndCachesDoNotGrow)
{
    std::size_t wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        GrowthScene scene;
        std::mt19937_64 random(seed);
        for (int turn = 0; turn < 3000; ++turn)
            scene.wander(kLeak, random);
        wrong += !report_of(scene.log).growth.empty();
    }
    EXPECT_LE(wrong, 2u) << "of 200";
}

// Pairs before the loop count for themselves: no call adds more than its block.
TEST(Growth, ACallAddsNoMoreThanItsBlock)
{
    for (const int pairs : {0, 4, 8, 40}) {
        GrowthScene scene;
        for (int pair = 0; pair < pairs; ++pair)
            scene.flash(kLeak, 64_KiB);
        for (int call = 0; call < 60; ++call)
            scene.take(kLeak, 64_KiB);
        const Report report = report_of(scene.log);
        ASSERT_EQ(report.growth.size(), 1u) << pairs;
        EXPECT_LE(report.growth[0].rate.bytes_per_step, 64_KiB) << pairs;
        EXPECT_GT(report.growth[0].rate.bytes_per_step, 60_KiB) << pairs;
        EXPECT_LE(report.growth[0].rate.most_per_step, 64_KiB) << pairs;
        EXPECT_LE(report.growth[0].rate.blocks_per_step, 1) << pairs;
    }
}

} // namespace
} // namespace vramscope::report
