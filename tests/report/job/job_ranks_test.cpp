// tests/report/job/job_ranks_test.cpp — which processes are a rank, which are missing, and how they
// ended.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "report/words/job_words.hpp"
#include "tests/report/job/job_scene.hpp"

namespace vramscope::report {
namespace {

TEST(JobRanks, IsNeverCleanWhereARankIsMissing)
{
    const Job job = joined({Rank(0, 4), Rank(3, 4)});
    EXPECT_EQ(job.missing, (Numbers{1, 2}));
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
    EXPECT_EQ(job.reasons, (std::vector<std::string>{"nothing was found of 2 ranks"}));
    EXPECT_EQ(joined({Rank(0, 2), Rank(1, 2)}).verdict, Verdict::clean);
    EXPECT_EQ(JobJoin().finish().verdict, Verdict::inconclusive);
}

TEST(JobRanks, ALargerRankProvesThatSmallerOnesExist)
{
    const Job job = joined({Rank(0), Rank(1), Rank(3)});
    EXPECT_EQ(job.world_size, 0u);
    EXPECT_EQ(job.missing, (Numbers{2}));
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
}

TEST(JobRanks, IsNeverCleanWhereARankCrashedOrAFileCouldNotBeRead)
{
    std::vector<Rank> ranks{Rank(0), Rank(1)};
    ranks[1].process().about.verdict = Verdict::inconclusive;
    EXPECT_EQ(joined(ranks).verdict, Verdict::inconclusive);
    JobJoin join;
    join.add(Rank(0).process());
    join.add_unread("rank1.vsl: it is cut");
    const Job job = join.finish();
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
    EXPECT_EQ(job.unread, (std::vector<std::string>{"rank1.vsl: it is cut"}));
}

TEST(JobRanks, WhatCrashedFirstIsToldFirstAndEachWayToEndOnce)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 6; ++number)
        ranks.emplace_back(number);
    const auto end = [&](std::size_t rank, const char* words, bool crashed, std::uint64_t seen) {
        JobProcess& about = ranks[rank].process().about;
        about.verdict = Verdict::inconclusive;
        about.end = words;
        about.crashed = crashed;
        about.last_seen_ns = seen;
    };
    end(0, "ended without a word", false, 1);
    end(1, "was killed by signal 9", true, 30);
    end(3, "was killed by signal 6", true, 20);
    end(4, "was killed by signal 9", true, 25);
    end(5, "was killed by signal 6", true, 40);
    const std::vector<JobEnd> ends = joined(ranks).ends;
    ASSERT_EQ(ends.size(), 3u);
    EXPECT_EQ(ends[0].words, "was killed by signal 6");
    EXPECT_EQ(ends[0].ranks, (Numbers{3, 5}));
    EXPECT_EQ(ends[0].first, 3u);
    EXPECT_EQ(ends[1].ranks, (Numbers{1, 4}));
    EXPECT_EQ(ends[1].first, 4u);
    EXPECT_EQ(ends[2].words, "ended without a word");
}

TEST(JobRanks, IsNotCleanWhereARankFailed)
{
    const Job job = joined({Rank(0).exited(0), Rank(1).exited(4), Rank(2).exited(0)});
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
    EXPECT_EQ(job.reasons, (std::vector<std::string>{"the program failed on 1 rank"}));
    ASSERT_EQ(job.ends.size(), 1u);
    EXPECT_EQ(job.ends[0].words, "exited with status 4");
    EXPECT_EQ(job.ends[0].ranks, (Numbers{1}));
    EXPECT_TRUE(job.ends[0].failed);
    EXPECT_EQ(standings_of(job), "1 failed, 2 clean");
}

TEST(JobRanks, WhatFailedComesBeforeWhatWasKilledForIt)
{
    std::vector<Rank> ranks{Rank(0).exited(0, 10), Rank(1).exited(1, 20), Rank(2).exited(0, 30)};
    for (const std::size_t rank : {0u, 2u}) {
        ranks[rank].process().about.verdict = Verdict::inconclusive;
        ranks[rank].process().about.exit_status.reset();
        ranks[rank].process().about.end = "was killed by signal 15";
    }
    const Job job = joined(ranks);
    ASSERT_EQ(job.ends.size(), 2u);
    EXPECT_EQ(job.ends[0].ranks, (Numbers{1})) << "though rank 0 was seen last before";
    EXPECT_EQ(job.ends[1].ranks, (Numbers{0, 2}));
    EXPECT_EQ(standings_of(job), "2 inconclusive, 1 failed");
    EXPECT_EQ(job.reasons, (std::vector<std::string>{"the program failed on 1 rank",
                                                     "of 2 ranks nobody knows whether they leak"}));
}

TEST(JobRanks, EachKindThatAReportTellsHasItsRanksAndIsNeverClean)
{
    const auto oom = [](std::uint32_t rank, const std::string& rest) {
        return Rank(rank).says(HeadlineKind::out_of_memory, "Out of memory", rest);
    };
    Rank both = oom(3, ": load() wanted 1 TiB");
    both.says(HeadlineKind::misuse, "Wrong frees", ": 1 call");
    const Job job = joined({Rank(0).says(HeadlineKind::clean, "Clean", ": nothing leaked"),
                            oom(1, ", 2 times: load() wanted 2 TiB"), Rank(2), both});
    ASSERT_EQ(job.headlines.size(), 2u);
    EXPECT_EQ(job.headlines[0].ranks, (Numbers{1, 3}));
    EXPECT_EQ(headline_words(job, job.headlines[0]),
              "Out of memory; rank 1, 2 times: load() wanted 2 TiB");
    EXPECT_EQ(job.headlines[1].ranks, (Numbers{3}));
    EXPECT_EQ(headline_words(job, job.headlines[1]), "Wrong frees: 1 call");
    EXPECT_EQ(title_of(job), "Out of memory");
    EXPECT_EQ(standings_of(job), "2 with findings, 2 clean");
    EXPECT_EQ(job.verdict, Verdict::clean) << "none leaks";
}

TEST(JobRanks, WhatPlacesAndEndsTellIsNotToldTwice)
{
    Rank rank(0);
    rank.says(HeadlineKind::crashed, "Crashed", " while holding nothing")
        .says(HeadlineKind::leaks, "Leaks", ": 1 B")
        .says(HeadlineKind::growth, "Grows", ": by 1 B per step")
        .says(HeadlineKind::inconclusive, "Inconclusive", ": who knows");
    EXPECT_TRUE(joined({rank}).headlines.empty());
    const Job growing = joined({Rank(0).site("grow", kMiB, 0, 65536)});
    EXPECT_EQ(growing.verdict, Verdict::clean);
    EXPECT_EQ(title_of(growing), "Grows");
    EXPECT_EQ(title_of(joined({Rank(0)})), "Clean");
}

TEST(JobRanks, TwoOfOneRankAreNotSummed)
{
    Rank again(1);
    again.process().about.log = "z.vsl";
    again.site("leak_here", 0, kMiB);
    const Job job = joined({Rank(0), again, Rank(1)});
    EXPECT_EQ(job.processes.size(), 2u);
    EXPECT_TRUE(job.findings.empty());
    EXPECT_EQ(job.reasons,
              (std::vector<std::string>{
                  "rank 1 is there twice: rank1.vsl is taken, and z.vsl is left out"}));
}

TEST(JobRanks, TwoJobsAreToldOnceAndAFewRanksOfThem)
{
    std::vector<ReducedProcess> first, second;
    for (std::uint32_t number = 0; number < 8; ++number) {
        first.push_back(Rank(number).process());
        first.back().job = "77";
        second.push_back(Rank(number).process());
        second.back().job = "78";
    }
    JobJoin join;
    for (std::uint32_t number = 0; number < 8; ++number) {
        const std::string log = "tables/" + std::to_string(number);
        join.add(second[number], log + ".vsl.1.jsonl");
        join.add(first[number], log + ".vsl.jsonl");
    }
    const Job job = join.finish();
    EXPECT_EQ(job.name, "77");
    EXPECT_EQ(job.reasons,
              (std::vector<std::string>{
                  "these look like two jobs: 8 of 8 ranks are there more than once",
                  "rank 0 is there twice: tables/0.vsl.jsonl is taken, and tables/0.vsl.1.jsonl "
                  "is left out",
                  "rank 1 is there twice: tables/1.vsl.jsonl is taken, and tables/1.vsl.1.jsonl "
                  "is left out",
                  "rank 2 is there twice: tables/2.vsl.jsonl is taken, and tables/2.vsl.1.jsonl "
                  "is left out",
                  "... and 5 more ranks"}));
}

TEST(JobRanks, OfOneFileTwoOfOneRankAreToldApartByTheirProcesses)
{
    std::vector<Rank> ranks{Rank(0), Rank(1), Rank(1)};
    ranks[1].process().about.pid = 12;
    ranks[1].process().about.host = "a";
    ranks[2].process().about.pid = 13;
    EXPECT_EQ(joined(ranks).reasons,
              (std::vector<std::string>{"rank 1 is there twice: rank1.vsl of process 12 on a is "
                                        "taken, and rank1.vsl of process 13 is left out"}));
}

TEST(JobRanks, OtherJobsAndRanksBeyondItsSizeAreSaid)
{
    Rank other(1, 2);
    other.process().job = "78";
    Rank first(0, 2);
    first.process().job = "77";
    const Job job = joined({first, other, Rank(5, 2)});
    EXPECT_EQ(job.reasons, (std::vector<std::string>{"rank1.vsl is of another job, 78 and not 77",
                                                     "rank5.vsl says that it is rank 5 of 2"}));
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
}

TEST(JobRanks, ProcessesWithoutRanksAreNumbered)
{
    Rank one(0), other(0);
    one.process().rank.reset();
    other.process().rank.reset();
    const Job job = joined({one, other});
    EXPECT_FALSE(job.ranked);
    EXPECT_EQ(job.processes[0].number, 0u);
    EXPECT_EQ(job.processes[1].number, 1u);
    EXPECT_TRUE(job.missing.empty());
    EXPECT_TRUE(job.without_rank.empty());
}

TEST(JobRanks, AProcessWithoutARankHidesNoneThatIsMissing)
{
    Rank launcher(0);
    launcher.site("launch", 900 * kMiB).says(HeadlineKind::clean, "Clean", ": nothing leaked");
    launcher.exited(0).process().rank.reset();
    launcher.process().about.pid = 4711;
    Rank first(0, 3), last(2, 3);
    Job job = joined({launcher, first, last});
    EXPECT_TRUE(job.ranked);
    EXPECT_EQ(job.missing, (Numbers{1}));
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
    EXPECT_TRUE(job.findings.empty()) << "it is compared with none";
    ASSERT_EQ(job.without_rank.size(), 1u);
    EXPECT_EQ(
        outsider_words(job.without_rank[0]),
        "process 4711 (rank0.vsl) has no rank: Clean: nothing leaked; it exited with status 0");
    EXPECT_EQ(title_of(joined({launcher, first, Rank(1), last})), "Clean");
    launcher.says(HeadlineKind::leaks, "Leaks", ": 4 KiB");
    launcher.process().about.verdict = Verdict::leaks;
    EXPECT_EQ(joined({launcher, first, Rank(1), last}).verdict, Verdict::leaks);
    launcher.exited(1);
    EXPECT_EQ(joined({launcher, first, Rank(1), last}).reasons,
              (std::vector<std::string>{"1 process without a rank failed"}));
}

TEST(JobRanks, WhatWasFoundOfAProcessWithoutARankIsNeverClean)
{
    Rank launcher(0);
    launcher.says(HeadlineKind::out_of_memory, "Out of memory", ": load() wanted 1 TiB");
    launcher.process().rank.reset();
    const Job job = joined({launcher, Rank(0)});
    EXPECT_EQ(job.verdict, Verdict::clean);
    EXPECT_EQ(title_of(job), "Out of memory");
}

// A process of a rank; times are seconds.
Rank process_of(std::uint32_t rank, std::uint32_t pid, std::uint64_t from, std::uint64_t to)
{
    Rank process(rank);
    process.process().about.pid = pid;
    process.process().about.host = "a";
    process.process().about.log = std::to_string(pid) + ".vsl";
    process.process().started_ns = from * 1'000'000'000;
    process.process().about.last_seen_ns = to * 1'000'000'000;
    return process;
}

TEST(JobRanks, ProcessesOfOneRankThatRanTogetherAreThatRank)
{
    std::vector<Rank> processes;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        processes.push_back(process_of(rank, 100 + rank, 10, 20));
        processes.back().site("parent", 8 * kMiB, kMiB).device(1000 * kMiB, 8 * kMiB);
        processes.push_back(process_of(rank, 200 + rank, 11, 12));
        processes.back().site("child", 2 * kMiB, 7 * kMiB).site("parent", 0, kMiB);
        processes.back().device(1000 * kMiB, 2 * kMiB);
    }
    processes[3].exited(1, 12'000'000'000);
    std::mt19937 random(1);
    for (int turn = 0; turn < 10; ++turn) {
        std::shuffle(processes.begin(), processes.end(), random);
        const Job job = joined(processes);
        ASSERT_EQ(job.processes.size(), 4u);
        EXPECT_EQ(job.processes[1].pid, 101u);
        EXPECT_EQ(job.processes[1].other_logs, (std::vector<std::string>{"201.vsl"}));
        EXPECT_EQ(job.processes[1].end, "exited with status 1") << "as the worst of them";
        EXPECT_EQ(job.processes[2].peak_device_bytes, 10 * kMiB);
        EXPECT_EQ(job.processes[2].free_bytes, 990 * kMiB);
        EXPECT_EQ(job.reasons, (std::vector<std::string>{"the program failed on 1 rank"}));
        EXPECT_EQ(faults(job),
                  (std::vector<std::string>{"all child 0 1 2 3", "all parent 0 1 2 3"}));
        for (const JobFinding& finding : job.findings)
            EXPECT_EQ(finding.leaked_bytes,
                      (finding.stack.front().function == "child" ? 7 : 2) * kMiB);
    }
}

TEST(JobRanks, AChildWhoseLogEndsBeforeThatOfItsParentBeginsIsOfTheRankAndARestartIsNot)
{
    Rank child = process_of(0, 200, 1, 2);
    child.process().parent_pid = 100;
    EXPECT_TRUE(joined({process_of(0, 100, 10, 20), child}).reasons.empty());
    Rank again = process_of(0, 300, 21, 30);
    Rank first = process_of(0, 100, 10, 20);
    again.process().parent_pid = first.process().parent_pid = 7;
    EXPECT_EQ(joined({first, again}).reasons.size(), 1u) << "one launcher started both";
    Rank of_another_host = process_of(0, 300, 11, 12);
    of_another_host.process().about.host = "b";
    EXPECT_EQ(joined({first, of_another_host}).reasons.size(), 1u);
    Rank of_another_job = process_of(0, 300, 11, 12);
    of_another_job.process().job = "78";
    EXPECT_GE(joined({first, of_another_job}).reasons.size(), 1u);
    EXPECT_EQ(joined({first, of_another_job}).processes[0].other_logs.size(), 0u);
}

TEST(JobRanks, WhatAnExecReplacedGoesOnWithItsPid)
{
    Rank before = process_of(0, 100, 10, 20).site("probe", 2 * kMiB).device(10 * kMiB, 2 * kMiB);
    Rank after =
        process_of(0, 100, 21, 30).site("leak", 3 * kMiB, kMiB).device(10 * kMiB, 3 * kMiB);
    after.process().program = "serve";
    EXPECT_EQ(joined({before, after}).reasons.size(), 1u) << "a container gives each run one pid";
    before.process().replaced = true;
    const Job job = joined({after, before});
    EXPECT_EQ(job.verdict, Verdict::leaks);
    ASSERT_EQ(job.processes.size(), 1u);
    EXPECT_EQ(job.processes[0].peak_device_bytes, 3 * kMiB) << "the first had ended before";
    EXPECT_EQ(job.processes[0].free_bytes, 7 * kMiB);
    EXPECT_EQ(job.program, "serve");
}

TEST(JobRanks, ThoseWhoseLogsLackEventsSayThat)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 4; ++number)
        ranks.push_back(Rank(number).exited(0));
    for (const std::uint32_t number : {1u, 3u}) {
        ranks[number].process().about.verdict = Verdict::inconclusive;
        ranks[number].process().about.doubt = std::to_string(number * 1000) + " events were lost";
    }
    const Job job = joined(ranks);
    ASSERT_EQ(job.ends.size(), 1u) << "they differ in a number alone";
    EXPECT_EQ(job.ends[0].words, "1000 events were lost");
    EXPECT_EQ(job.ends[0].ranks, (Numbers{1, 3}));
    ranks[1].exited(7);
    EXPECT_EQ(joined(ranks).ends[0].words, "exited with status 7; 1000 events were lost");
}

TEST(JobRanks, AProcessThatIsGivenTwiceIsOne)
{
    const Job job = joined({process_of(0, 1, 10, 20).site("load", 0, kMiB),
                            process_of(0, 1, 10, 20).site("load", 0, kMiB)});
    ASSERT_EQ(job.processes.size(), 1u);
    EXPECT_TRUE(job.reasons.empty());
    EXPECT_EQ(job.findings[0].leaked_bytes, kMiB);
    EXPECT_EQ(joined({process_of(0, 1, 0, 0), process_of(0, 1, 0, 0)}).reasons.size(), 1u)
        << "nobody knows when they began";
    EXPECT_EQ(joined({process_of(0, 1, 10, 20), process_of(1, 1, 10, 20)}).processes.size(), 2u);
}

} // namespace
} // namespace vramscope::report
