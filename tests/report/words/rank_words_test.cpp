// tests/report/words/rank_words_test.cpp — which ranks of a job, in few words.
#include "report/words/rank_words.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "report/model/job.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

std::vector<std::uint32_t> numbers_without(std::uint32_t count,
                                           const std::vector<std::uint32_t>& gone = {})
{
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t number = 0; number < count; ++number)
        if (std::find(gone.begin(), gone.end(), number) == gone.end())
            numbers.push_back(number);
    return numbers;
}

TEST(RankWords, RunsAndStridesAreOnePieceEach)
{
    EXPECT_EQ(number_ranges({417}), "417");
    EXPECT_EQ(number_ranges({3, 4}), "3, 4");
    EXPECT_EQ(number_ranges({0, 1, 2, 3}), "0-3");
    EXPECT_EQ(number_ranges({7, 15, 23, 31}), "7-31:8");
    EXPECT_EQ(number_ranges({0, 1, 2, 9, 40, 50, 60}), "0-2, 9, 40-60:10");
}

TEST(RankWords, WhatIsManyPiecesIsCounted)
{
    EXPECT_EQ(number_ranges({0, 1, 3, 7, 12, 20, 33, 54}), "0, 1, 3, 7, 12, 20 and 2 more");
}

TEST(RankWords, APartSaysOfHowMany)
{
    EXPECT_EQ(part_of_job({1, 3, 5}, numbers_without(1000), true), "3 of 1,000 ranks (1-5:2)");
    EXPECT_EQ(part_of_job({0, 1, 2}, {0, 1, 2}, false), "all 3 processes");
    EXPECT_EQ(part_of_job({7}, {7}, true), "rank 7");
    EXPECT_EQ(part_of_job({0}, {0}, false), "process 0");
}

TEST(RankWords, ARankOfSeveralProcessesIsCountedOnce)
{
    Report report;
    report.processes.resize(6);
    for (std::size_t process = 0; process < 6; ++process) {
        report.processes[process].pid = static_cast<std::uint32_t>(100 + process);
        RankRow& row = report.ranks.rows.emplace_back();
        row.process = process;
        row.rank = static_cast<std::uint32_t>(process / 2);
    }
    EXPECT_EQ(part_of_job(report, {0, 2, 4}), "all 3 ranks");
    EXPECT_EQ(part_of_job(report, {0, 1, 3}), "2 of 3 ranks (0, 1)");
    report.ranks.rows[5].rank.reset();
    EXPECT_EQ(part_of_job(report, {0, 1, 3}), "3 of 6 processes (100, 101, 103)");
    for (Process& process : report.processes)
        process.pid = 7;
    EXPECT_EQ(part_of_job(report, {0, 1, 2, 3, 4, 5}), "all 6 processes") << "of several hosts";
}

TEST(RankWords, WhatNearlyAllHaveNamesTheOthersWhereThatIsShorter)
{
    const std::vector<std::uint32_t> all = numbers_without(150);
    EXPECT_EQ(part_of_job(numbers_without(150, {120}), all, true), "all but rank 120");
    EXPECT_EQ(part_of_job(numbers_without(150, {3, 120}), all, true), "all but ranks 3, 120");
    EXPECT_EQ(part_of_job(numbers_without(150, {149}), all, false), "all but process 149");
    EXPECT_EQ(part_of_job(numbers_without(10, {4}), numbers_without(10), true), "all but rank 4");
    EXPECT_EQ(part_of_job(numbers_without(9, {4}), numbers_without(9), true),
              "8 of 9 ranks (0-3, 5-8)")
        << "less than nine of ten";
    EXPECT_EQ(part_of_job(numbers_without(4, {3}), numbers_without(4), true), "3 of 4 ranks (0-2)");
    EXPECT_EQ(part_of_job(numbers_without(20, {18, 19}), numbers_without(20), true),
              "18 of 20 ranks (0-17)")
        << "not shorter";
    EXPECT_EQ(part_of_job(numbers_without(150, {60, 120}), numbers_without(150, {60}), true),
              "all but rank 120")
        << "where others are missing";
}

TEST(RankWords, AMeanIsToldWhereNoRankNeedHaveIt)
{
    JobFinding finding;
    finding.leaked_bytes = 23 << 19;
    finding.growth_bytes_per_step = 4096;
    finding.step = "step";
    EXPECT_EQ(values_of(finding), "leaked 11.5 MiB, grows by 4 KiB per step");
    finding.leaked_differs = true;
    EXPECT_EQ(values_of(finding), "leaked 11.5 MiB on average, grows by 4 KiB per step");
    finding.growth_differs = true;
    finding.kind = JobFindingKind::far_off;
    finding.usual_bytes = 1024;
    EXPECT_EQ(values_of(finding),
              "leaked 11.5 MiB on average, grows by 4 KiB per step on average, usually 1 KiB");
}

TEST(RankWords, WhatRunsOutFirstSaysHowLongItLasts)
{
    Job job;
    job.runs_out_first = {.rank = 733,
                          .total_bytes = 4ull << 30,
                          .peak_bytes = 3ull << 30,
                          .growth_bytes_per_second = 512 << 10};
    EXPECT_EQ(run_out_words(job),
              "rank 733, which grows by 512 KiB per second: its 1 GiB of headroom last about 34 "
              "min");
    job.ranked = false;
    job.runs_out_first->peak_bytes = 5ull << 30;
    EXPECT_EQ(run_out_words(job),
              "process 733, which grows by 512 KiB per second: nothing is left");
}

} // namespace
} // namespace vramscope::report
