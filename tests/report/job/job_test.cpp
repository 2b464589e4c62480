// tests/report/job/job_test.cpp — which ranks are named, and that no sound one is.
#include "report/job/job.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "report/words/job_words.hpp"
#include "report/words/rank_words.hpp"

namespace vramscope::report {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::uint64_t kMiB = 1u << 20;

class Rank {
public:
    explicit Rank(std::uint32_t rank, std::uint32_t size = 0)
    {
        process_.rank = rank;
        process_.world_size = size;
        process_.program = "train";
        process_.about.log = "rank" + std::to_string(rank) + ".vsl";
        process_.about.verdict = Verdict::clean;
        process_.about.end = "exited with status 0";
    }

    Rank& site(const std::string& function, std::uint64_t at_peak, std::uint64_t leaked = 0,
               std::uint64_t growth = 0, const std::string& step = "step")
    {
        process_.frames.push_back(
            {.frame = {.function = function, .file = "a.cu", .line = 7, .module = {}}});
        process_.sites.push_back({.api = "cudaMalloc",
                                  .frame = process_.frames.size() - 1,
                                  .memory = format::Memory::device,
                                  .device = 0,
                                  .at_peak_bytes = at_peak,
                                  .leaked_bytes = leaked,
                                  .growth_bytes_per_step = growth,
                                  .step = growth > 0 ? step : ""});
        process_.about.peak_device_bytes += at_peak;
        if (leaked > 0)
            process_.about.verdict = Verdict::leaks;
        return *this;
    }
    Rank& device(std::uint64_t total, std::uint64_t peak)
    {
        process_.devices.push_back(
            {.ordinal = 0, .total_bytes = total, .peak_reserved_bytes = peak});
        return *this;
    }
    Rank& says(HeadlineKind kind, const std::string& title, const std::string& rest)
    {
        process_.headlines.push_back({kind, title, rest});
        process_.about.found |= process_.headlines.back().is_finding();
        return *this;
    }
    Rank& exited(std::uint32_t status, std::uint64_t seen_ns = 0)
    {
        process_.about.end = "exited with status " + std::to_string(status);
        process_.about.exit_status = status;
        process_.about.last_seen_ns = seen_ns;
        return *this;
    }
    ReducedProcess& process() { return process_; }

private:
    ReducedProcess process_;
};

Job joined(std::vector<Rank> ranks)
{
    JobJoin join;
    for (Rank& rank : ranks)
        join.add(rank.process());
    return join.finish();
}

// Ranks as sound jobs have them: noise in what is held, a stage that each eighth rank has.
std::vector<Rank> sound(std::uint32_t count, std::mt19937& random)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < count; ++number) {
        Rank& rank = ranks.emplace_back(number, count);
        for (int layer = 0; layer < 20; ++layer)
            rank.site("layer" + std::to_string(layer), (64 + random() % 4) * kMiB);
        if (number % 8 == 7)
            rank.site("head", 200 * kMiB);
    }
    return ranks;
}

// "alone leak_here 17", sorted; parts of the job are left out.
std::vector<std::string> faults(const Job& job)
{
    std::vector<std::string> faults;
    for (const JobFinding& finding : job.findings) {
        if (finding.kind == JobFindingKind::part)
            continue;
        std::string text = std::string(name(finding.kind)) + " " +
                           (finding.of_whole_peaks ? "peak" : finding.stack.front().function);
        for (const std::uint32_t rank : finding.ranks)
            text += " " + std::to_string(rank);
        faults.push_back(text);
    }
    std::sort(faults.begin(), faults.end());
    return faults;
}

TEST(Job, NamesPlantedFaultsAndNoSoundRank)
{
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        std::mt19937 random(seed);
        std::vector<Rank> ranks = sound(100, random);
        Numbers planted(100);
        for (std::uint32_t at = 0; at < 100; ++at)
            planted[at] = at;
        std::shuffle(planted.begin(), planted.end(), random);
        ranks[planted[0]].site("leak_here", kMiB, 5 * kMiB);
        ranks[planted[1]].site("grow_here", 12 * kMiB, 0, 65536);
        ranks[planted[2]].process().sites[3].at_peak_bytes += 300 * kMiB;
        ranks[planted[2]].process().about.peak_device_bytes += 300 * kMiB;
        const auto of = [&](std::size_t fault) { return std::to_string(planted[fault]); };
        std::vector<std::string> expected{"alone grow_here " + of(1), "alone leak_here " + of(0),
                                          "far-off layer3 " + of(2), "far-off peak " + of(2)};
        std::sort(expected.begin(), expected.end());
        EXPECT_EQ(faults(joined(ranks)), expected) << seed;
    }
}

TEST(Job, SaysNothingOfSoundRanks)
{
    for (const std::uint32_t count : {1u, 2u, 3u, 5u, 8u, 100u})
        for (std::uint32_t seed = 1; seed <= 50; ++seed) {
            std::mt19937 random(seed);
            const Job job = joined(sound(count, random));
            // Of eight ranks the one with the head of the model has what the others lack.
            const std::vector<std::string> expected =
                count == 8 ? std::vector<std::string>{"alone head 7"} : std::vector<std::string>{};
            EXPECT_EQ(faults(job), expected) << count << " ranks, seed " << seed;
            EXPECT_EQ(job.verdict, Verdict::clean);
        }
}

TEST(Job, APartOfTheJobIsNoFault)
{
    std::mt19937 random(1);
    const Job job = joined(sound(100, random));
    ASSERT_EQ(job.findings.size(), 1u);
    EXPECT_EQ(job.findings[0].kind, JobFindingKind::part);
    EXPECT_EQ(job.findings[0].ranks, (Numbers{7, 15, 23, 31, 39, 47, 55, 63, 71, 79, 87, 95}));
    EXPECT_EQ(job.findings[0].at_peak_bytes, 200 * kMiB);
}

TEST(Job, ASmallPlaceThatOneRankHasAndThatLeaksNothingIsNoFault)
{
    std::mt19937 random(1);
    std::vector<Rank> ranks = sound(10, random);
    ranks[0].site("write_log", 4096);
    EXPECT_EQ(faults(joined(ranks)), (std::vector<std::string>{"alone head 7"}));
}

TEST(Job, WhatAllLeakIsSaidOnceAndWhatSomeLeakWithTheirRanks)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 10; ++number) {
        ranks.emplace_back(number).site("everywhere", kMiB, number < 9 ? kMiB : 3 * kMiB);
        if (number % 2 == 0)
            ranks.back().site("on_even", 0, 4096);
    }
    const Job job = joined(ranks);
    EXPECT_EQ(faults(job), (std::vector<std::string>{"all everywhere 0 1 2 3 4 5 6 7 8 9",
                                                     "some on_even 0 2 4 6 8"}));
    EXPECT_EQ(job.verdict, Verdict::leaks);
    const auto all =
        std::find_if(job.findings.begin(), job.findings.end(),
                     [](const JobFinding& finding) { return finding.kind == JobFindingKind::all; });
    EXPECT_EQ(all->leaked_bytes, 12 * kMiB / 10);
}

TEST(Job, FewRanksHaveNoUsualValue)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 4; ++number)
        ranks.emplace_back(number).site("load", number == 2 ? 900 * kMiB : kMiB);
    EXPECT_EQ(faults(joined(ranks)), std::vector<std::string>{});
    ranks.emplace_back(4).site("load", kMiB);
    EXPECT_EQ(faults(joined(ranks)),
              (std::vector<std::string>{"far-off load 2", "far-off peak 2"}));
}

TEST(Job, OneOfThreeAloneIsToldAndOneOfTwoIsNot)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 2; ++number)
        ranks.emplace_back(number).site("load", kMiB);
    ranks[1].site("leak_here", kMiB, kMiB);
    EXPECT_EQ(faults(joined(ranks)), (std::vector<std::string>{"some leak_here 1"}));
    ranks.emplace_back(2).site("load", kMiB);
    EXPECT_EQ(faults(joined(ranks)), (std::vector<std::string>{"alone leak_here 1"}));
}

TEST(Job, IsTheSameInEveryOrder)
{
    std::mt19937 random(7);
    std::vector<Rank> ranks = sound(30, random);
    ranks[4].site("leak_here", kMiB, 5 * kMiB);
    ranks[9].process().about.verdict = Verdict::inconclusive;
    const std::vector<std::string> expected = faults(joined(ranks));
    const std::vector<std::string> reasons = joined(ranks).reasons;
    for (int turn = 0; turn < 20; ++turn) {
        std::shuffle(ranks.begin(), ranks.end(), random);
        const Job job = joined(ranks);
        EXPECT_EQ(faults(job), expected);
        EXPECT_EQ(job.reasons, reasons);
        EXPECT_TRUE(std::is_sorted(
            job.processes.begin(), job.processes.end(),
            [](const JobProcess& a, const JobProcess& b) { return a.number < b.number; }));
    }
}

TEST(Job, IsNeverCleanWhereARankIsMissing)
{
    const Job job = joined({Rank(0, 4), Rank(3, 4)});
    EXPECT_EQ(job.missing, (Numbers{1, 2}));
    EXPECT_EQ(job.verdict, Verdict::inconclusive);
    EXPECT_EQ(job.reasons, (std::vector<std::string>{"nothing was found of 2 ranks"}));
    EXPECT_EQ(joined({Rank(0, 2), Rank(1, 2)}).verdict, Verdict::clean);
    EXPECT_EQ(JobJoin().finish().verdict, Verdict::inconclusive);
}

TEST(Job, IsNeverCleanWhereARankCrashedOrAFileCouldNotBeRead)
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

TEST(Job, WhatCrashedFirstIsToldFirstAndEachWayToEndOnce)
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

TEST(Job, IsNotCleanWhereARankFailed)
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

TEST(Job, WhatFailedComesBeforeWhatWasKilledForIt)
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
}

TEST(Job, EachKindThatAReportTellsHasItsRanksAndIsNeverClean)
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

TEST(Job, WhatPlacesAndEndsTellIsNotToldTwice)
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

TEST(Job, OfEachProcessItsGrowthAndItsFullestDevice)
{
    std::vector<Rank> ranks{Rank(0), Rank(1)};
    ranks[1].site("grow", kMiB, 0, 100).site("more", kMiB, 0, 50);
    ranks[1].device(1000, 500).device(800, 790).device(0, 5);
    const Job job = joined(ranks);
    EXPECT_EQ(job.processes[0].growth_bytes_per_step, 0u);
    EXPECT_EQ(job.processes[0].free_bytes, std::nullopt);
    EXPECT_EQ(job.processes[1].growth_bytes_per_step, 150u);
    EXPECT_EQ(job.processes[1].free_bytes, 10u);
    EXPECT_EQ(job.processes[1].total_bytes, 800u);
}

TEST(Job, GrowthIsPerWhatItWasCountedIn)
{
    const Job job =
        joined({Rank(0).site("grow", kMiB, 0, 100, "call").site("often", kMiB, 0, 50, "epoch"),
                Rank(1).site("grow", kMiB, 0, 100, "call").site("often", kMiB),
                Rank(2).site("grow", kMiB, 0, 100, "call").site("often", kMiB, 0, 5)});
    ASSERT_EQ(job.findings.size(), 2u);
    EXPECT_EQ(values_of(job.findings[0]), "grows by 27 B per step on average")
        << "of the two, one has epochs and the other steps";
    EXPECT_EQ(values_of(job.findings[1]), "grows by 100 B per call, at peak 1 MiB");
    EXPECT_EQ(job.processes[0].step, "step");
    EXPECT_EQ(job.processes[1].step, "call");
    EXPECT_EQ(Job(joined({Rank(0)})).processes[0].step, "");
}

TEST(Job, TwoOfOneRankAreNotSummed)
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

TEST(Job, TwoJobsAreToldOnceAndAFewRanksOfThem)
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

TEST(Job, OfOneFileTwoOfOneRankAreToldApartByTheirProcesses)
{
    std::vector<Rank> ranks{Rank(0), Rank(1), Rank(1)};
    ranks[1].process().about.pid = 12;
    ranks[1].process().about.host = "a";
    ranks[2].process().about.pid = 13;
    EXPECT_EQ(joined(ranks).reasons,
              (std::vector<std::string>{"rank 1 is there twice: rank1.vsl of process 12 on a is "
                                        "taken, and rank1.vsl of process 13 is left out"}));
}

TEST(Job, SaysWhereAMeanIsNobodys)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 4; ++number)
        ranks.emplace_back(number).site("same", 0, kMiB).site("other", 0, (1 + number) * kMiB);
    for (const JobFinding& finding : joined(ranks).findings)
        EXPECT_EQ(finding.leaked_differs, finding.stack.front().function == "other");
}

TEST(Job, OtherJobsAndRanksBeyondItsSizeAreSaid)
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

TEST(Job, ProcessesWithoutRanksAreNumbered)
{
    Rank without(0);
    without.process().rank.reset();
    const Job job = joined({Rank(4), without});
    EXPECT_FALSE(job.ranked);
    EXPECT_EQ(job.processes[0].number, 0u);
    EXPECT_EQ(job.processes[1].number, 1u);
    EXPECT_TRUE(job.missing.empty());
}

TEST(Job, TellsWhereTheLeastIsLeft)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 5; ++number)
        ranks.emplace_back(number).device(1000, 500 + 100 * number);
    const Job job = joined(ranks);
    ASSERT_EQ(job.headroom.size(), 3u);
    EXPECT_EQ(job.headroom[0].rank, 4u);
    EXPECT_EQ(job.headroom[0].free_bytes(), 100u);
    EXPECT_EQ(job.headroom[2].rank, 2u);
    EXPECT_FALSE(job.runs_out_first) << "nothing grows";
}

TEST(Job, TellsWhichRankIsFullFirstAtTheRateThatItGrowsBy)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 5; ++number)
        ranks.emplace_back(number).device(1000 * kMiB, 900 * kMiB).site("grow", kMiB, 0, 1);
    EXPECT_FALSE(joined(ranks).runs_out_first) << "how fast is not known";
    const auto grow = [&](std::size_t rank, std::uint64_t per_second, std::int32_t device = 0,
                          format::Memory memory = format::Memory::device) {
        ranks[rank].site("grow", 0, 0, 1);
        ReducedSite& site = ranks[rank].process().sites.back();
        site.growth_bytes_per_second = per_second;
        site.device = device;
        site.memory = memory;
    };
    grow(0, 90 * kMiB, 0, format::Memory::pinned);
    grow(0, 90 * kMiB, 1);
    grow(0, 90 * kMiB, -1);
    EXPECT_FALSE(joined(ranks).runs_out_first) << "host memory, and devices of no known size";
    grow(1, 2 * kMiB);
    grow(3, kMiB);
    grow(3, 4 * kMiB);
    ranks[4].process().devices[0].peak_reserved_bytes = 999 * kMiB; // the least, and does not grow
    const Job job = joined(ranks);
    EXPECT_EQ(job.headroom[0].rank, 4u);
    ASSERT_TRUE(job.runs_out_first);
    EXPECT_EQ(job.runs_out_first->rank, 3u);
    EXPECT_EQ(job.runs_out_first->growth_bytes_per_second, 5 * kMiB);
    EXPECT_EQ(job.runs_out_first->full_after_ns(), 20'000'000'000u);
    grow(1, INT64_MAX);
    EXPECT_EQ(joined(ranks).runs_out_first->rank, 1u);
}

} // namespace
} // namespace vramscope::report
