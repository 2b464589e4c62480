// tests/report/findings/growth/growth_beside_steps_test.cpp — ranges that are few, short or over.
//
// They are no steps of what grows beside them.
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
using test::kLeak;
using test::kOther;

// As epochs of a training: what they are made of says more.
TEST(GrowthBesideSteps, OfFewStepsIsClaimedWhereAllocationsProveIt)
{
    GrowthScene scene;
    scene.steps(4, [&](std::size_t) {
        for (int turn = 0; turn < 30; ++turn) {
            scene.flash(kOther);
            scene.take(kLeak, 1_KiB);
        }
    });
    const Report report = report_of(scene.log);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    EXPECT_EQ(growth_at(report, kLeak)->rate.step(), "call");
}

TEST(GrowthBesideSteps, StepsThatWereOverHideNoGrowth)
{
    GrowthScene scene;
    scene.steps(20, [&](std::size_t) { scene.flash(kOther); });
    scene.leak_in_turns(200);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

// As a solver's that is called once, or those of a profiled window.
TEST(GrowthBesideSteps, StepsWithinALongerLoopHideNoGrowth)
{
    for (const int begin : {1, 40, 120}) {
        GrowthScene scene;
        for (int turn = 0; turn < 200; ++turn) {
            scene.flash(kOther);
            if (turn == begin)
                scene.steps(
                    6, [&](std::size_t) { scene.flash(kOther); }, "iteration");
            scene.take(kLeak);
        }
        EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing") << begin;
    }
}

TEST(GrowthBesideSteps, AQueueThatFillsUpBehindTheStepsDoesNotGrow)
{
    GrowthScene scene;
    std::deque<std::uint64_t> queue;
    const auto turn = [&](std::size_t) {
        scene.flash(kOther);
        queue.push_back(scene.take(kLeak));
        if (queue.size() > 40) {
            scene.give(queue.front());
            queue.pop_front();
        }
    };
    for (std::size_t before = 0; before < 10; ++before)
        turn(before);
    scene.steps(10, turn);
    for (std::size_t behind = 0; behind < 80; ++behind)
        turn(behind);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "cache");
}

// Whatever the ranges behind it are called, or where there are none.
TEST(GrowthBesideSteps, LoadingInRangesOfItsOwnDoesNotGrow)
{
    for (const std::string work : {"step", "batch", "request", ""}) {
        GrowthScene scene;
        scene.steps(
            48,
            [&](std::size_t) {
                scene.flash(kOther);
                scene.take(kLeak);
            },
            "load layer");
        for (int turn = 0; turn < 10; ++turn) {
            if (work.empty())
                scene.flash(kOther);
            else
                scene.steps(
                    1, [&](std::size_t) { scene.flash(kOther); }, work);
        }
        EXPECT_EQ(class_at(report_of(scene.log), kLeak), work.empty() ? "cache" : "start-up")
            << work;
    }
}

TEST(GrowthBesideSteps, LoadingThatGoesOnToTheEndGrows)
{
    GrowthScene scene;
    scene.steps(
        100,
        [&](std::size_t) {
            scene.flash(kOther);
            scene.take(kLeak);
        },
        "load image");
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

// As what is written out in the end.
TEST(GrowthBesideSteps, OfWhatIsMadeAtOnceBehindTheStepsIsNotClaimed)
{
    GrowthScene scene;
    scene.steps(5, [&](std::size_t) { scene.flash(kOther); });
    for (int block = 0; block < 30; ++block)
        scene.take(kLeak);
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "several");
}

TEST(GrowthBesideSteps, ShortRangesAtTheEndHideNoGrowth)
{
    GrowthScene scene;
    scene.leak_in_turns(200);
    scene.steps(
        5, [&](std::size_t) { scene.flash(kOther); }, "save");
    EXPECT_EQ(class_at(report_of(scene.log), kLeak), "growing");
}

TEST(GrowthBesideSteps, IsNotToldPerWhatCameOnce)
{
    GrowthScene scene;
    for (int turn = 0; turn < 200; ++turn) {
        scene.flash(kOther);
        scene.take(kLeak);
        if (turn == 100)
            scene.log.mark("half");
    }
    Options options;
    options.per = "half";
    const Report report = report_of(scene.log, options);
    EXPECT_EQ(class_at(report, kLeak), "growing");
    ASSERT_EQ(report.notices.size(), 1u);
    EXPECT_EQ(report.notices[0].find("growth is not told per \"half\": there are 1 of them"), 0u);
}

} // namespace
} // namespace vramscope::report
