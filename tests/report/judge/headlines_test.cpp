// tests/report/judge/headlines_test.cpp — which processes a headline is of, and what its rates add up to.
#include <string>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::report_of_all;
using test::operator""_MiB;

LogBuilder rank(std::uint32_t number, bool leaks)
{
    LogBuilder log = test::program_with_stacks();
    log.header().pid = 100 + number;
    log.info("rank", std::to_string(number)).info("world_size", "4");
    log.place({.context = 1, .device = 0}).alloc(0x1000, 1_MiB, 1);
    return leaks ? log : log.free(0x1000);
}

const Headline& headline(const Report& report, HeadlineKind kind)
{
    static const Headline kNone;
    for (const Headline& one : report.headlines)
        if (one.kind == kind)
            return one;
    ADD_FAILURE() << "no such headline";
    return kNone;
}

TEST(Headlines, OfSeveralProcessesSayWhoseTheyAre)
{
    const Report report =
        report_of_all({rank(0, false), rank(1, true), rank(2, false), rank(3, true)});
    const Headline& leaks = headline(report, HeadlineKind::leaks);
    EXPECT_EQ(leaks.sentence().find("Leaks in 2 of 4 ranks (1, 3): "), 0u) << leaks.sentence();
    EXPECT_EQ(leaks.processes, (std::vector<std::size_t>{1, 3}));
}

TEST(Headlines, OfOneProcessDoNot)
{
    const Report report = report_of(rank(0, true));
    const Headline& leaks = headline(report, HeadlineKind::leaks);
    EXPECT_EQ(leaks.sentence().find("Leaks: 1 MiB in 1 block"), 0u) << leaks.sentence();
    EXPECT_EQ(leaks.processes, std::vector<std::size_t>{0});
    EXPECT_TRUE(headline(report_of(rank(0, false)), HeadlineKind::clean).processes.empty());
}

Growth growth_of(const std::string& function, std::int32_t device, double rate,
                 const std::string& per, std::uint64_t steps, int line = 0)
{
    Growth row;
    row.api = "cuMemAlloc";
    row.stack = {{.function = function, .file = {}, .line = line, .module = "/x/app"}};
    row.memory = format::Memory::device;
    row.device = device;
    row.rate.per = per;
    row.rate.steps = steps;
    row.rate.bytes_per_step = row.rate.least_per_step = row.rate.most_per_step = rate;
    return row;
}

std::string growth_words(std::vector<Growth> rows)
{
    Report report = report_of(rank(0, false));
    report.growth = std::move(rows);
    for (const Headline& one : headlines_of(report))
        if (one.kind == HeadlineKind::growth)
            return one.sentence();
    return {};
}

// A recursion has a stack for each depth, and each allocation takes as much.
TEST(Headlines, RatesPerAllocationAreNotAddedUp)
{
    EXPECT_EQ(
        growth_words({growth_of("rec", 0, 65536, "", 10), growth_of("rec", 0, 65536, "", 30)}),
        "Grows: 64 KiB per allocation, at rec [app], from 2 call stacks");
    EXPECT_EQ(growth_words({growth_of("rec", 0, 3072, "", 10), growth_of("rec", 0, 1024, "", 30)}),
              "Grows: 1.5 KiB per allocation, at rec [app], from 2 call stacks");
    EXPECT_EQ(
        growth_words({growth_of("rec", 0, 1024, "step", 9), growth_of("rec", 0, 1024, "step", 9)}),
        "Grows: 2 KiB per step, at rec [app], from 2 call stacks");
}

TEST(Headlines, EachLineOfAFunctionHasItsRatePerAllocation)
{
    EXPECT_EQ(
        growth_words({growth_of("train", 0, 3072, "", 10), growth_of("train", 0, 1024, "", 30, 9)}),
        "Grows: 3 KiB per allocation, at train [app]; and 1 more call stack");
}

TEST(Headlines, GrowthOnAnotherDeviceIsMoreOfIt)
{
    EXPECT_EQ(
        growth_words({growth_of("run", 0, 2048, "step", 9), growth_of("run", 1, 1024, "step", 9)}),
        "Grows: 2 KiB per step, at run [app]; and 1 more call stack");
}

TEST(Headlines, RanksOnDevicesOfTheirOwnHaveOneCallStackAndARangeOfRates)
{
    Report report = report_of_all({rank(0, false), rank(1, false), rank(2, false)});
    for (std::size_t process = 0; process < 3; ++process) {
        const double rate = process == 1 ? 8 * 1024 : 1024;
        report.growth.push_back(
            growth_of("run", static_cast<std::int32_t>(process), rate, "step", 9));
        report.growth.back().process = process;
    }
    std::swap(report.growth[0], report.growth[1]); // the fastest first
    const auto words = [&] {
        for (const Headline& one : headlines_of(report))
            if (one.kind == HeadlineKind::growth)
                return one.sentence();
        return std::string();
    };
    EXPECT_EQ(words(), "Grows in all 3 ranks: 1 KiB to 8 KiB per step, at run [app]");
    for (Growth& row : report.growth)
        row.rate.bytes_per_step = row.rate.least_per_step = row.rate.most_per_step = 1024;
    EXPECT_EQ(words(), "Grows in all 3 ranks: 1 KiB per step, at run [app]");
}

} // namespace
} // namespace vramscope::report
