// tests/report/findings/growth/no_growth_test.cpp — stepped programs that only seem to grow.
#include <gtest/gtest.h>

#include "report/model/growth.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"

namespace vramscope::report {
namespace {

using test::class_at;
using test::GrowthScene;
using test::report_of;
using test::operator""_KiB;
using test::Addresses;
using test::kLeak;
using test::kOther;

TEST(NoGrowth, StartUpBeforeTheStepsIsToldApart)
{
    GrowthScene scene;
    for (int tensor = 0; tensor < 1000; ++tensor) {
        scene.take(kLeak);
        scene.sleep(100'000);
    }
    scene.steps(100, [&](std::size_t) { scene.flash(kOther); });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "start-up");
    EXPECT_TRUE(report.growth.empty());
}

TEST(NoGrowth, LazyStartUpInTheFirstStepsIsStartUp)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t step) {
        scene.flash(kOther);
        if (step < 3)
            scene.take(kLeak);
        if (step == 0)
            scene.take(3);
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "start-up");
    EXPECT_EQ(class_at(report, 3), "start-up");
}

TEST(NoGrowth, BlockFromTheMiddleIsOnce)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t step) {
        scene.flash(kOther);
        scene.flash(kLeak);
        if (step == 50)
            scene.take(kLeak);
    });
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "once");
}

TEST(NoGrowth, CacheThatFillsAndThenReplacesIsACache)
{
    for (const std::size_t full_at : {20, 60, 85}) {
        GrowthScene scene;
        std::deque<std::uint64_t> cache;
        scene.steps(100, [&](std::size_t) {
            cache.push_back(scene.take(kLeak));
            if (cache.size() > full_at) {
                scene.give(cache.front());
                cache.pop_front();
            }
        });
        const Report report = report_of(scene.log);
        EXPECT_EQ(class_at(report, kLeak), "cache") << full_at;
        EXPECT_TRUE(report.growth.empty()) << full_at;
    }
}

TEST(NoGrowth, CacheOfRandomKeysLevelsOff)
{
    for (const std::size_t keys : {20, 50, 100}) {
        GrowthScene scene;
        std::vector<bool> cached(keys);
        scene.steps(300, [&](std::size_t) {
            scene.flash(kOther);
            const std::size_t key = scene.below(keys);
            if (!cached[key])
                scene.take(kLeak);
            cached[key] = true;
        });
        const Report report = report_of(scene.log);
        EXPECT_TRUE(report.growth.empty()) << keys;
        EXPECT_NE(class_at(report, kLeak), "growing") << keys;
    }
}

TEST(NoGrowth, RingOfBlocksInFlightIsACache)
{
    GrowthScene scene;
    std::deque<std::uint64_t> ring;
    scene.steps(200, [&](std::size_t) {
        ring.push_back(scene.take(kLeak));
        if (ring.size() > 4) {
            scene.give(ring.front());
            ring.pop_front();
        }
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "cache");
    EXPECT_TRUE(report.growth.empty());
}

TEST(NoGrowth, SetThatIsFreedFromBeforeItTakesIsACache)
{
    GrowthScene scene;
    std::deque<std::uint64_t> cache;
    scene.steps(300, [&](std::size_t) {
        if (scene.below(2) == 0)
            return;
        if (cache.size() == 6) {
            scene.give(cache.front());
            cache.pop_front();
        }
        cache.push_back(scene.take(kLeak));
    });
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "cache");
}

TEST(NoGrowth, SawtoothIsNoGrowth)
{
    for (const std::size_t epochs : {2, 3, 10}) {
        GrowthScene scene;
        Addresses history;
        scene.steps(
            epochs,
            [&](std::size_t) {
                scene.give(history);
                scene.steps(50, [&](std::size_t) { history.push_back(scene.take(kLeak)); });
            },
            "epoch");
        const Report report = report_of(scene.log);
        EXPECT_EQ(class_at(report, kLeak), "cache") << epochs;
        EXPECT_TRUE(report.growth.empty()) << epochs;
    }
}

TEST(NoGrowth, ArrayThatDoublesIsNotSurelyGrowing)
{
    GrowthScene scene;
    std::uint64_t buffer = scene.take(kLeak, 1_KiB);
    std::size_t capacity = 1;
    scene.steps(1000, [&](std::size_t step) {
        scene.flash(kOther);
        if (step < capacity)
            return;
        capacity *= 2;
        const std::uint64_t larger = scene.take(kLeak, capacity * 1_KiB);
        scene.give(buffer);
        buffer = larger;
    });
    const Report report = report_of(scene.log);
    EXPECT_TRUE(report.growth.empty());
    EXPECT_EQ(class_at(report, kLeak), "once");
}

TEST(NoGrowth, ContextsThatTakeTheirLeaksAlongDoNotGrow)
{
    GrowthScene scene;
    for (std::uint64_t round = 1; round <= 40; ++round) {
        scene.log.context(round).place({.context = round, .device = 0}).push("step");
        for (int block = 0; block < 5; ++block)
            scene.take(kLeak);
        scene.log.pop().context_gone(round);
    }
    const Report report = report_of(scene.log);
    EXPECT_TRUE(report.growth.empty());
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].kind, LeakKind::at_reset);
    EXPECT_EQ(report.leaks[0].pattern, Pattern::repeated);
    EXPECT_EQ(report.leaks[0].blocks, 200u);
}

TEST(NoGrowth, PhaseThatIsOverIsBounded)
{
    GrowthScene scene;
    scene.steps(100, [&](std::size_t step) {
        scene.flash(kOther);
        if (step >= 20 && step < 60)
            scene.take(kLeak);
    });
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "cache");
}

TEST(NoGrowth, RiseThatStoppedIsBounded)
{
    for (const std::size_t end : {360, 600, 900}) {
        for (const std::size_t every : {1, 3, 10}) {
            GrowthScene scene;
            scene.steps(1200, [&](std::size_t step) {
                scene.flash(kOther);
                if (step < end && step % every == 0)
                    scene.take(kLeak, 256_KiB);
            });
            const Report report = report_of(scene.log);
            EXPECT_EQ(class_at(report, kLeak), "cache") << every << " until " << end;
            EXPECT_TRUE(report.growth.empty());
        }
    }
}

TEST(NoGrowth, CacheThatMetAllItsShapesByHalfTimeIsACache)
{
    for (const std::size_t steps : {400, 1200, 4000}) {
        GrowthScene scene;
        std::vector<bool> cached(100);
        scene.steps(steps, [&](std::size_t step) {
            scene.flash(kOther);
            const std::size_t shape = step < steps / 2 ? step * 200 / steps : scene.below(100);
            if (!cached[shape])
                scene.take(kLeak, (1 + shape) * 4_KiB);
            cached[shape] = true;
        });
        EXPECT_EQ(class_at(report_of(scene.log), kLeak), "cache") << steps;
    }
}

TEST(NoGrowth, RiseThatStoppedIsBoundedWhereSeveralStacksAreAddedUp)
{
    GrowthScene scene;
    scene.log.stack(11, {0x401001}); // as stack 1, by another number
    scene.steps(1200, [&](std::size_t step) {
        scene.flash(kOther);
        if (step < 360)
            scene.take(step % 2 == 0 ? kLeak : 11, 256_KiB);
    });
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "cache");
}

TEST(NoGrowth, WhatIsPerhapsGrowingIsNotSaidToGrowByMoreThanItDid)
{
    // The bursts are far apart: it is not known whether another one would have come.
    GrowthScene scene;
    scene.steps(1000, [&](std::size_t step) {
        scene.flash(kOther);
        if (step >= 600 && step < 650)
            scene.take(kLeak);
    });
    const Report report = report_of(scene.log);
    ASSERT_EQ(class_at(report, kLeak), "unclear");
    const GrowthRate& rate = report.leaks.at(0).rate;
    constexpr double kSteps = 400; // from the first of them to the end
    EXPECT_LE(rate.bytes_per_step * kSteps, 51.0 * 1024 * 1024);
    EXPECT_LE(rate.blocks_per_step * kSteps, 51.0);
}

TEST(NoGrowth, BurstsThatMayComeAgainAreNotSaidToHaveStopped)
{
    // Ten blocks at each hundredth step; the run ends before the next ten.
    for (const std::size_t steps : {590, 690, 790}) {
        GrowthScene scene;
        scene.steps(steps, [&](std::size_t step) {
            scene.flash(kOther);
            if (step >= 100 && step % 100 < 10)
                scene.take(kLeak);
        });
        EXPECT_NE(class_at(report_of(scene.log), kLeak), "cache") << steps;
    }
}

TEST(NoGrowth, RandomWalksDoNotGrow)
{
    std::size_t wrong = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        GrowthScene scene;
        std::mt19937_64 random(seed);
        scene.steps(200, [&](std::size_t) {
            for (int turn = 0; turn < 10; ++turn)
                scene.wander(kLeak, random);
        });
        wrong += !report_of(scene.log).growth.empty();
    }
    EXPECT_LE(wrong, 2u) << "of 200";
}

} // namespace
} // namespace vramscope::report
