// tests/report/findings/growth/chosen_steps_test.cpp — which ranges and marks are steps.
#include "report/findings/growth/chosen_steps.hpp"

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/step_reading.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;

struct Read : test::StepReading {
    using StepReading::StepReading;

    ChosenSteps chosen() const { return {steps, {allocations, first, last}}; }
    static std::string name(const StepName* steps) { return steps ? steps->name : ""; }
    std::string best() const { return name(chosen().best()); }
    // Of a place in these ranges that allocates all the time.
    std::string best(const std::vector<std::string>& ranges) const
    {
        PlaceSeries place;
        place.first_ticks = first;
        place.last_ticks = last;
        return name(chosen().best_of(place, ranges));
    }
    // Of a place that allocates evenly between these moments.
    std::string best_in(std::uint64_t from, std::uint64_t to) const
    {
        PlaceSeries place;
        place.floors.push_back({.ticks = to, .events = 100});
        place.first_ticks = from;
        place.last_ticks = to;
        return name(chosen().best_of(place, {}));
    }
};

// `body` in so many instances of a range.
template <typename Body>
void repeat(LogBuilder& log, int count, const std::string& name, Body body)
{
    for (int instance = 0; instance < count; ++instance) {
        log.push(name);
        body();
        log.pop();
    }
}

TEST(ChosenSteps, RangesOfCcclAreNone)
{
    LogBuilder log;
    repeat(log, 40, "work", [&] {
        for (const char* name : {"cub::DeviceScan::InclusiveSum", "thrust::sort"}) {
            log.push(name);
            log.at(log.now() + 50'000).alloc(log.now(), 1).pop();
        }
    });
    EXPECT_EQ(Read(log).best({"work", "thrust::sort"}), "work");
    LogBuilder only;
    repeat(only, 40, "cub::DeviceReduce::Sum", [&] { only.alloc(only.now(), 1); });
    EXPECT_EQ(Read(only).best(), "");
    repeat(only, 40, "cubic step", [&] { only.alloc(only.now(), 1); });
    EXPECT_EQ(Read(only).best(), "cubic step") << "a user's name";
}

TEST(ChosenSteps, StepsGoBeforeEpochsAndBeforeWhatTheyAreMadeOf)
{
    LogBuilder log;
    repeat(log, 20, "epoch", [&] {
        repeat(log, 10, "step", [&] {
            repeat(log, 3, "layer", [] {});
            repeat(log, 1, "optimizer.step", [] {});
        });
    });
    EXPECT_EQ(Read(log).best(), "step");
}

TEST(ChosenSteps, WithoutAWordForItTheOuterOneOfManyIsTaken)
{
    LogBuilder log;
    repeat(log, 20, "frame", [&] { repeat(log, 9, "kernel", [] {}); });
    EXPECT_EQ(Read(log).best(), "frame");
    LogBuilder few;
    repeat(few, 5, "frame", [&] { repeat(few, 9, "kernel", [] {}); });
    EXPECT_EQ(Read(few).best(), "kernel") << "five tell little";
}

TEST(ChosenSteps, WhatCoversLittleOfTheTimeIsNone)
{
    LogBuilder log;
    repeat(log, 50, "batch", [] {});
    log.at(log.now() + 10'000'000);
    repeat(log, 10, "epoch", [&] { log.at(log.now() + 1'000'000); });
    EXPECT_EQ(Read(log).best(), "epoch");
}

TEST(ChosenSteps, ThoseThatAreAPartOfALargerWorkAreNone)
{
    for (const char* const name : {"layer", "step"}) {
        LogBuilder log;
        std::uint64_t address = 0x1000;
        repeat(log, 12, name, [&] { log.alloc(address += 0x1000, 8); });
        for (int turn = 0; turn < 100; ++turn)
            log.alloc(address += 0x1000, 8);
        EXPECT_EQ(Read(log).best(), "") << name;
    }
}

TEST(ChosenSteps, SayNothingOfAPlaceThatTheyAreAPartOf)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    const auto work = [&](int turns) {
        for (int turn = 0; turn < turns; ++turn)
            log.alloc(address += 0x1000, 8);
    };
    work(100);
    const std::uint64_t begin = log.now();
    repeat(log, 10, "iteration", [&] { work(1); });
    const std::uint64_t end = log.now();
    const std::uint64_t length = end - begin;
    work(100);
    const Read read(log);
    EXPECT_EQ(read.best_in(begin - 3 * length, end + 3 * length), "");
    EXPECT_EQ(read.best_in(begin - 3 * length, end + length / 2), "iteration") << "more is in them";
    EXPECT_EQ(read.best_in(begin, end), "iteration");
    EXPECT_EQ(read.best_in(begin - length, begin - 1), "iteration") << "before the steps";
}

TEST(ChosenSteps, PreparationIsNone)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    repeat(log, 48, "load layer", [&] { log.alloc(address += 0x1000, 8); });
    const std::uint64_t loaded = log.now();
    EXPECT_EQ(Read(log).best(), "");
    repeat(log, 10, "request", [&] { log.alloc(address += 0x1000, 8); });
    const Read read(log);
    PlaceSeries weights;
    weights.floors.push_back({.ticks = loaded, .events = 48});
    weights.last_ticks = loaded - 1;
    const std::vector<std::string> ranges{"load layer"};
    EXPECT_EQ(Read::name(read.chosen().best_of(weights, ranges)), "");
    weights.prepares = true;
    EXPECT_EQ(Read::name(read.chosen().best_of(weights, ranges)), "request");
}

TEST(ChosenSteps, ThreeAreNotEnough)
{
    LogBuilder log;
    repeat(log, 3, "step", [] {});
    EXPECT_EQ(Read(log).best(), "");
    log.push("step").pop();
    EXPECT_EQ(Read(log).best(), "step");
}

// A few short ranges behind a long loop, as of what is saved in the end.
TEST(ChosenSteps, ThoseOfTheLastHalfAreNone)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    for (int turn = 0; turn < 100; ++turn)
        log.alloc(address += 0x1000, 8);
    repeat(log, 8, "save", [&] { log.alloc(address += 0x1000, 8); });
    EXPECT_EQ(Read(log).best(), "");
}

TEST(ChosenSteps, ThatWereOverSayNothingOfWhatBeganThen)
{
    LogBuilder log;
    repeat(log, 20, "step", [&] { log.alloc(0x1000, 8).free(0x1000); });
    LogBuilder longer = log;
    for (std::uint64_t turn = 1; turn <= 60; ++turn)
        (turn < 10 ? log : longer).alloc(0x1000 + turn, 8);
    const std::uint64_t over = Read(log).steps.named("step")->counter.last_ticks();
    EXPECT_EQ(Read(log).best_in(over, log.now()), "step") << "they are most of the work";
    EXPECT_EQ(Read(longer).best_in(over - 1, over + 1), "step");
    EXPECT_EQ(Read(longer).best_in(over, longer.now()), "");
}

TEST(ChosenSteps, MarksCountAsWell)
{
    LogBuilder log;
    for (int request = 0; request < 20; ++request)
        log.mark("request " + std::to_string(request));
    EXPECT_EQ(Read(log).best(), "request #");
}

TEST(ChosenSteps, WhatIsAroundAPlaceIsBestForIt)
{
    LogBuilder log;
    repeat(log, 10, "epoch", [&] { repeat(log, 10, "step", [] {}); });
    const Read read(log);
    EXPECT_EQ(read.best(), "step");
    EXPECT_EQ(read.best({"epoch"}), "epoch");
    EXPECT_EQ(read.best({"epoch", "step"}), "step");
    EXPECT_EQ(read.best({"other"}), "step");
}

} // namespace
} // namespace vramscope::report
