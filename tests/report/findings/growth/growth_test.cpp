// tests/report/findings/growth/growth_test.cpp — programs that grow, step by step.
#include "report/model/growth.hpp"

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
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

TEST(Growth, OneBlockEachStepGrowsByItsSize)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t) {
        scene.flash(kOther);
        scene.take(kLeak, 64_KiB);
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(growth_at(report, kOther), nullptr);
    const Growth* const growth = growth_at(report, kLeak);
    ASSERT_NE(growth, nullptr);
    EXPECT_EQ(growth->rate.per, "step");
    EXPECT_NEAR(growth->rate.bytes_per_step, 64 * 1024, 1024);
    EXPECT_NEAR(growth->rate.blocks_per_step, 1, 0.02);
    EXPECT_GT(growth->rate.confidence, 0.99);
    EXPECT_EQ(growth->rate.steps, 80u) << "the first fifth is warm-up";
    EXPECT_FALSE(growth->freed);
    EXPECT_EQ(growth->phase, "step");
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].rate.bytes_per_step, growth->rate.bytes_per_step);
}

TEST(Growth, BufferThatIsDoubledInEachStepSpeedsUp)
{
    GrowthScene scene;
    std::uint64_t before = 0;
    scene.steps(10, [&](std::size_t step) {
        const std::uint64_t larger = scene.take(kLeak, 1_MiB << step);
        if (before != 0)
            scene.give(before);
        before = larger;
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    const Growth* const growth = growth_at(report, kLeak);
    ASSERT_NE(growth, nullptr);
    EXPECT_TRUE(growth->rate.speeds_up);
    EXPECT_GE(growth->rate.bytes_per_step, 51_MiB);
}

TEST(Growth, OneLateJumpAmongSmallRisesSpeedsNothingUp)
{
    GrowthScene scene;
    scene.steps(10, [&](std::size_t step) { scene.take(kLeak, step == 8 ? 500_MiB : 1_MiB); });
    EXPECT_EQ(growth_at(report_of(scene.log), kLeak), nullptr);
}

TEST(Growth, FittedRateHasAnInterval)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t) {
        if (scene.below(2) == 0)
            scene.take(kLeak, 64_KiB);
    });
    const Report report = report_of(scene.log);
    const Growth* const growth = growth_at(report, kLeak);
    ASSERT_NE(growth, nullptr);
    EXPECT_LT(growth->rate.least_per_step, growth->rate.bytes_per_step);
    EXPECT_GT(growth->rate.most_per_step, growth->rate.bytes_per_step);
    EXPECT_FALSE(growth->rate.speeds_up);
}

TEST(Growth, IsTheSameHoweverLongStepsTake)
{
    GrowthScene scene;
    scene.steps(90, [&](std::size_t step) {
        scene.sleep(scene.below(1'000'000) * (step % 7 == 0 ? 20 : 1));
        scene.take(kLeak, 64_KiB);
        scene.sleep(scene.below(1'000'000));
    });
    const Report report = report_of(scene.log);
    ASSERT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_EQ(growth_at(report, kLeak)->rate.bytes_per_step, 64_KiB);
    EXPECT_EQ(growth_at(report, kLeak)->rate.blocks_per_step, 1);
}

TEST(Growth, HeavyTemporariesAtTheSamePlaceDoNotHideIt)
{
    GrowthScene scene;
    scene.steps(200, [&](std::size_t) { scene.leak_among(20 + scene.below(200), kLeak, 64_KiB); });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    ASSERT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 64 * 1024, 3 * 1024);
}

TEST(Growth, HeavyTemporariesInFewStepsDoNotHideIt)
{
    GrowthScene scene;
    scene.steps(20, [&](std::size_t) { scene.leak_among(20 + scene.below(200), kLeak, 64_KiB); });
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

TEST(Growth, OneBlockEachTenthStepGrows)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t step) {
        scene.flash(kLeak, 10_KiB);
        if (step % 10 == 0)
            scene.take(kLeak, 10_KiB);
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    ASSERT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 1024, 200);
}

TEST(Growth, OneBlockEachEpochGrows)
{
    GrowthScene scene;
    scene.steps(
        10,
        [&](std::size_t) {
            scene.steps(50, [&](std::size_t) { scene.flash(kOther); });
            scene.take(kLeak);
        },
        "epoch");
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(report.processes[0].step_name, "step");
    EXPECT_EQ(report.processes[0].step_count, 500u);
}

TEST(Growth, OfFewStepsIsClaimedOfFiveAndNotOfFour)
{
    for (const std::size_t steps : {2, 3, 4, 5, 6}) {
        GrowthScene scene;
        scene.steps(steps, [&](std::size_t) {
            scene.flash(kOther);
            scene.take(kLeak);
        });
        const Report report = report_of(scene.log);
        const std::string expected = steps >= 5 ? "growing" : steps == 4 ? "unclear" : "several";
        EXPECT_EQ(class_at(report, kLeak), expected) << steps << " steps";
        if (steps == 4) {
            EXPECT_NEAR(report.leaks[0].rate.confidence, 1 - 1.0 / 6, 1e-9);
        }
        if (steps == 5) {
            EXPECT_NEAR(report.leaks[0].rate.confidence, 1 - 1.0 / 24, 1e-9);
        }
    }
}

TEST(Growth, FreedAtExitIsFoundAndIsNoLeak)
{
    GrowthScene scene;
    Addresses kept;
    scene.steps(100, [&](std::size_t) { kept.push_back(scene.take(kLeak)); });
    scene.give(kept);
    const Report report = report_of(scene.log);
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_TRUE(growth_at(report, kLeak)->freed);
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 1_MiB, 20_KiB);
}

TEST(Growth, DestroyedWithItsContextAtTheEndIsGrowth)
{
    GrowthScene scene;
    scene.steps(50, [&](std::size_t) { scene.take(kLeak); });
    scene.log.context_gone(1);
    scene.flash(kOther);
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(report.leaks[0].kind, LeakKind::at_reset);
}

TEST(Growth, IsToldPerWhatTheUserNames)
{
    GrowthScene scene;
    for (int epoch = 0; epoch < 10; ++epoch) {
        scene.log.push("epoch " + std::to_string(epoch));
        scene.steps(10, [&](std::size_t) { scene.take(kLeak, 64_KiB); });
        scene.log.pop();
    }
    const test::TempFile file(scene.log.build());
    Options options;
    options.per = "epoch 3";
    const Report report = make_report({file.path()}, options);
    ASSERT_NE(growth_at(report, kLeak), nullptr);
    EXPECT_EQ(growth_at(report, kLeak)->rate.per, "epoch");
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 640 * 1024, 30 * 1024);
    options.per = "lap";
    const Report other = make_report({file.path()}, options);
    EXPECT_EQ(growth_at(other, kLeak)->rate.per, "step");
    ASSERT_EQ(other.notices.size(), report.notices.size() + 1);
    EXPECT_EQ(other.notices[0],
              "growth is not told per \"lap\": no range and no mark has that name; "
              "there are \"epoch #\", \"step\"");
}

TEST(Growth, NumbersInNamesAreTheSameStep)
{
    GrowthScene scene;
    for (int epoch = 0; epoch < 4; ++epoch) {
        scene.log.push("epoch " + std::to_string(epoch));
        for (int step = 0; step < 25; ++step) {
            scene.log.push("step_" + std::to_string(step));
            scene.take(kLeak);
            scene.log.pop();
        }
        scene.log.pop();
    }
    const Report report = report_of(scene.log);
    EXPECT_EQ(report.processes[0].step_name, "step_#");
    EXPECT_EQ(report.processes[0].step_count, 100u);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(growth_at(report, kLeak)->phase, "epoch #/step_#");
}

TEST(Growth, MarksAreSteps)
{
    GrowthScene scene;
    scene.take(3, 100_MiB);
    for (int step = 0; step < 60; ++step) {
        scene.log.mark("step " + std::to_string(step));
        scene.flash(kOther);
        scene.take(kLeak);
    }
    const Report report = report_of(scene.log);
    EXPECT_EQ(report.processes[0].step_name, "step #");
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(class_at(report, 3), "start-up");
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 1_MiB, 20_KiB);
}

TEST(Growth, LeakInOneOfEightThreadsGrows)
{
    GrowthScene scene;
    for (int step = 0; step < 50; ++step) {
        for (std::uint32_t thread = 0; thread < 8; ++thread) {
            scene.log.thread(thread).place({.context = 1, .device = 0}).push("step");
            scene.flash(kLeak);
            if (thread == 5)
                scene.take(kLeak, 10_KiB);
            scene.log.pop();
        }
    }
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step * 8, 10 * 1024, 512);
}

TEST(Growth, StacksOfTheSamePlaceAreAddedUp)
{
    GrowthScene scene;
    scene.log.stack(11, {0x401001}); // as stack 1, by another number
    scene.steps(40, [&](std::size_t step) { scene.take(step % 2 == 0 ? 1 : 11); });
    const Report report = report_of(scene.log);
    ASSERT_EQ(report.growth.size(), 1u);
    EXPECT_NEAR(report.growth[0].rate.bytes_per_step, 1_MiB, 60_KiB);
}

TEST(Growth, BlockThatIsReplacedByALargerOneGrows)
{
    GrowthScene scene;
    std::uint64_t buffer = scene.take(kLeak, 64_KiB);
    scene.steps(100, [&](std::size_t step) {
        const std::uint64_t larger = scene.take(kLeak, (step + 2) * 64_KiB);
        scene.give(buffer);
        buffer = larger;
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_NEAR(growth_at(report, kLeak)->rate.bytes_per_step, 64_KiB, 2_KiB);
    EXPECT_NEAR(growth_at(report, kLeak)->rate.blocks_per_step, 0, 0.01);
    EXPECT_TRUE(compare(report, report, 0.05).findings.empty()) << "it is no more than it was";
}

TEST(Growth, WhatIsLeftIsNotFreedWhereverTheListBegins)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t) { scene.take(kLeak); });
    Options options;
    options.from_ns = 0;
    EXPECT_FALSE(growth_at(report_of(scene.log, options), kLeak)->freed);
    options.from_ns = 3'600'000'000'000;
    EXPECT_FALSE(growth_at(report_of(scene.log, options), kLeak)->freed);
}

TEST(Growth, BlocksFreedInAnotherPhaseAreFollowed)
{
    GrowthScene scene;
    Addresses last;
    scene.steps(100, [&](std::size_t) {
        scene.log.push("forward");
        Addresses now{scene.take(kOther), scene.take(kOther)};
        scene.log.pop().push("backward");
        scene.give(last);
        scene.log.pop();
        last = now;
    });
    scene.give(last);
    const Report report = report_of(scene.log);
    EXPECT_TRUE(report.growth.empty());
}

TEST(Growth, ThatBeganLateIsUnclearUnlessItLasts)
{
    for (const std::size_t begin : {30, 60, 90}) {
        GrowthScene scene;
        scene.steps(100, [&](std::size_t step) {
            scene.flash(kLeak);
            if (step >= begin)
                scene.take(kLeak);
        });
        EXPECT_EQ(class_at(report_of(scene.log), kLeak), begin < 90 ? "growing" : "unclear")
            << begin;
    }
}

TEST(Growth, ThatComesAtRandomIsNotTakenForOneThatStopped)
{
    std::size_t found = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        GrowthScene scene;
        std::mt19937_64 random(seed);
        scene.steps(1200, [&](std::size_t) {
            scene.flash(kOther);
            if (random() % 20 == 0)
                scene.take(kLeak);
        });
        const std::string found_class = class_at(report_of(scene.log), kLeak);
        EXPECT_NE(found_class, "cache") << seed;
        found += found_class == "growing";
    }
    EXPECT_GE(found, 50u) << "of 60";
}

TEST(Growth, UnclosedImportsGrow)
{
    GrowthScene scene;
    scene.steps(40, [&](std::size_t step) {
        scene.log.alloc(0x900000 + step * 0x1000, 1_MiB, kLeak, "cuIpcOpenMemHandle_v2");
    });
    const Report report = report_of(scene.log);
    ASSERT_EQ(report.imports.size(), 1u);
    EXPECT_EQ(report.imports[0].leak_class, LeakClass::growing);
}

// Two call stacks that differ in frames of the runtime alone are one row: what leaks there is not
// what grows there, and is freed.
TEST(Growth, OfOneRowWhatIsLostAndWhatIsFreedAreToldApart)
{
    for (const bool leaks : {false, true}) {
        GrowthScene scene;
        scene.log.module(2, 0x700000, 0x700000, 0x800000, "/gone/libcudart.so.12", "other");
        scene.log.stack(10, {0x700101, 0x402001}).stack(11, {0x700201, 0x402001});
        scene.take(10, 32_MiB);
        Addresses queue;
        for (int turn = 0; turn < 100; ++turn) {
            queue.push_back(scene.take(11, 64_KiB));
            scene.flash(kOther);
        }
        if (!leaks)
            scene.give(queue);
        const Report report = report_of(scene.log);
        ASSERT_EQ(report.leaks.size(), 1u);
        ASSERT_EQ(report.growth.size(), 1u);
        EXPECT_EQ(report.leaks[0].leak_class, leaks ? LeakClass::growing : LeakClass::start_up);
        EXPECT_EQ(report.growth[0].freed, !leaks);
        if (!leaks) {
            EXPECT_EQ(report.growth[0].rate.bytes_per_step, 64_KiB);
        }
    }
}

} // namespace
} // namespace vramscope::report
