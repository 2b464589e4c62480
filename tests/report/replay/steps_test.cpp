// tests/report/replay/steps_test.cpp — ranges and marks, counted by name.
#include "report/replay/steps.hpp"

#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/step_reading.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::StepReading;

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
    const StepReading read(log);
    ASSERT_EQ(read.steps.all().size(), 1u);
    EXPECT_EQ(read.steps.all()[0].name, "step #");
    ASSERT_NE(read.steps.named("step 7"), nullptr) << "a user may name any of them";
    EXPECT_EQ(read.steps.named("step 7")->counter.count(), 12u);
    EXPECT_EQ(read.steps.named("epoch"), nullptr);
}

TEST(Steps, NamesWithoutEndFillNoMemory)
{
    LogBuilder log;
    for (int name = 0; name < 3000; ++name)
        log.push(std::string(1 + name / 26 % 26, 'x') + static_cast<char>('a' + name % 26) +
                 std::string(1 + name / 676, 'y'));
    for (int pop = 0; pop < 4000; ++pop)
        log.pop();
    EXPECT_LE(StepReading(log).steps.all().size(), Steps::kMostNames);
    for (int name = 0; name < 3000; ++name)
        log.mark(std::string(1 + name / 26 % 26, 'x') + static_cast<char>('a' + name % 26) +
                 std::string(1 + name / 676, 'y'));
    const StepReading read(log);
    EXPECT_EQ(read.steps.all().size(), Steps::kMostNames);
    EXPECT_TRUE(read.steps.left_out_names()) << "a notice says so";
}

} // namespace
} // namespace vramscope::report
