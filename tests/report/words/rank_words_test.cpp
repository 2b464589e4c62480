// tests/report/words/rank_words_test.cpp — which ranks of a job, in few words.
#include "report/words/rank_words.hpp"

#include <gtest/gtest.h>

#include "report/model/job.hpp"

namespace vramscope::report {
namespace {

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
    EXPECT_EQ(part_of_job({1, 3, 5}, 1000, "ranks"), "3 of 1,000 ranks (1-5:2)");
    EXPECT_EQ(part_of_job({0, 1, 2}, 3, "processes"), "all 3 processes");
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
