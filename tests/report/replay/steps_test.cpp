// tests/report/replay/steps_test.cpp — what the steps of a program are, by its ranges and marks.
#include "report/replay/steps.hpp"

#include <gtest/gtest.h>

#include "report/log/log_file.hpp"
#include "report/log/log_reader.hpp"
#include "report/replay/heap/heap_replay.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::TempFile;

// The steps of a log, and what one asks them with.
struct Read {
    LogTables tables;
    HeapReplay heap{tables, 0};
    Steps steps{heap.phases()};
    StepCounter allocations;
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;

    explicit Read(const LogBuilder& log)
    {
        const TempFile bytes(log.build());
        const LogFile file = LogFile::open(bytes.path());
        LogReader reader(file);
        while (const Record* const record = reader.next()) {
            steps.before(*record);
            heap.apply(*record);
            steps.after(*record);
            if (record->tag == format::Tag::alloc)
                allocations.add(record->ticks);
            if (record->timed) {
                first = std::min(first, record->ticks);
                last = std::max(last, record->ticks);
            }
        }
    }
    std::string best(const std::vector<std::string>& ranges = {}) const
    {
        const StepName* const found = steps.best_of({ranges}, {allocations, first, last});
        return found ? found->name : "";
    }
    // Of a place that allocates from then on.
    std::string best_from(std::uint64_t ticks) const
    {
        const StepName* const found = steps.best_of({{}, ticks}, {allocations, first, last});
        return found ? found->name : "";
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

TEST(Steps, RangesOfCcclAreNone)
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

TEST(StepCounter, TellsHowManyHadEndedByWhen)
{
    StepCounter counter;
    counter.begin(100);
    EXPECT_DOUBLE_EQ(counter.at(500), 0);
    for (std::uint64_t ticks = 200; ticks <= 1000; ticks += 100)
        counter.add(ticks);
    EXPECT_DOUBLE_EQ(counter.at(50), 0);
    EXPECT_DOUBLE_EQ(counter.at(100), 0);
    EXPECT_DOUBLE_EQ(counter.at(200), 1);
    EXPECT_DOUBLE_EQ(counter.at(250), 1.5);
    EXPECT_DOUBLE_EQ(counter.at(1000), 9);
    EXPECT_DOUBLE_EQ(counter.at(9999), 9);
}

TEST(StepCounter, OfVeryManyItIsInterpolated)
{
    StepCounter counter;
    counter.begin(0);
    for (std::uint64_t step = 1; step <= 1'000'000; ++step)
        counter.add(step * 10);
    EXPECT_EQ(counter.count(), 1'000'000u);
    for (std::uint64_t step = 0; step <= 1'000'000; step += 33'333)
        EXPECT_NEAR(counter.at(step * 10), static_cast<double>(step), 1) << step;
}

TEST(StepCounter, TimeThatStepsBackDoesNotBreakIt)
{
    StepCounter counter;
    for (const std::uint64_t ticks : {100, 300, 200, 400})
        counter.add(ticks);
    EXPECT_GE(counter.at(350), counter.at(250));
}

TEST(Steps, NamesThatDifferInNumbersAreOne)
{
    LogBuilder log;
    for (int step = 0; step < 12; ++step)
        log.push("step " + std::to_string(step)).pop();
    const Read read(log);
    EXPECT_EQ(read.best(), "step #");
    EXPECT_EQ(read.steps.all().size(), 1u);
    ASSERT_NE(read.steps.named("step 7"), nullptr) << "a user may name any of them";
    EXPECT_EQ(read.steps.named("step 7")->counter.count(), 12u);
    EXPECT_EQ(read.steps.named("epoch"), nullptr);
}

TEST(Steps, StepsGoBeforeEpochsAndBeforeWhatTheyAreMadeOf)
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

TEST(Steps, WithoutAWordForItTheOuterOneOfManyIsTaken)
{
    LogBuilder log;
    repeat(log, 20, "frame", [&] { repeat(log, 9, "kernel", [] {}); });
    EXPECT_EQ(Read(log).best(), "frame");
    LogBuilder few;
    repeat(few, 5, "frame", [&] { repeat(few, 9, "kernel", [] {}); });
    EXPECT_EQ(Read(few).best(), "kernel") << "five tell little";
}

TEST(Steps, WhatCoversLittleOfTheTimeIsNone)
{
    LogBuilder log;
    repeat(log, 50, "batch", [] {});
    log.at(log.now() + 10'000'000);
    repeat(log, 10, "epoch", [&] { log.at(log.now() + 1'000'000); });
    EXPECT_EQ(Read(log).best(), "epoch");
}

TEST(Steps, LoadingThatIsOverIsNone)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    repeat(log, 12, "load layer", [&] { log.alloc(address += 0x1000, 8); });
    for (int turn = 0; turn < 100; ++turn)
        log.alloc(address += 0x1000, 8);
    EXPECT_EQ(Read(log).best(), "");
}

TEST(Steps, ThreeAreNotEnough)
{
    LogBuilder log;
    repeat(log, 3, "step", [] {});
    EXPECT_EQ(Read(log).best(), "");
    log.push("step").pop();
    EXPECT_EQ(Read(log).best(), "step");
}

// A few short ranges behind a long loop, as of what is saved in the end.
TEST(Steps, ThoseOfTheLastHalfAreNone)
{
    LogBuilder log;
    std::uint64_t address = 0x1000;
    for (int turn = 0; turn < 100; ++turn)
        log.alloc(address += 0x1000, 8);
    repeat(log, 8, "save", [&] { log.alloc(address += 0x1000, 8); });
    EXPECT_EQ(Read(log).best(), "");
}

TEST(Steps, ThatWereOverSayNothingOfWhatBeganThen)
{
    LogBuilder log;
    repeat(log, 20, "step", [&] { log.alloc(0x1000, 8).free(0x1000); });
    LogBuilder longer = log;
    for (std::uint64_t turn = 1; turn <= 60; ++turn)
        (turn < 10 ? log : longer).alloc(0x1000 + turn, 8);
    const std::uint64_t over = Read(log).steps.named("step")->counter.last_ticks();
    EXPECT_EQ(Read(log).best_from(over), "step") << "they are most of the work";
    EXPECT_EQ(Read(longer).best_from(over - 1), "step");
    EXPECT_EQ(Read(longer).best_from(over), "");
}

TEST(Steps, MarksCountAsWell)
{
    LogBuilder log;
    for (int request = 0; request < 20; ++request)
        log.mark("request " + std::to_string(request));
    EXPECT_EQ(Read(log).best(), "request #");
}

TEST(Steps, WhatIsAroundAPlaceIsBestForIt)
{
    LogBuilder log;
    repeat(log, 10, "epoch", [&] { repeat(log, 10, "step", [] {}); });
    const Read read(log);
    EXPECT_EQ(read.best(), "step");
    EXPECT_EQ(read.best({"epoch"}), "epoch");
    EXPECT_EQ(read.best({"epoch", "step"}), "step");
    EXPECT_EQ(read.best({"other"}), "step");
}

TEST(Steps, NamesWithoutEndFillNoMemory)
{
    LogBuilder log;
    for (int name = 0; name < 3000; ++name)
        log.push(std::string(1 + name / 26 % 26, 'x') + static_cast<char>('a' + name % 26) +
                 std::string(1 + name / 676, 'y'));
    for (int pop = 0; pop < 4000; ++pop)
        log.pop();
    EXPECT_LE(Read(log).steps.all().size(), Steps::kMostNames);
}

} // namespace
} // namespace vramscope::report
