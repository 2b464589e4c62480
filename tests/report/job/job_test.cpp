// tests/report/job/job_test.cpp — which ranks are named, and that no sound one is.
#include "report/job/job.hpp"

#include <algorithm>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/words/rank_words.hpp"
#include "tests/report/job/job_scene.hpp"

namespace vramscope::report {
namespace {

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

// The same, with a stage that has three times as much at one place, and no place of its own.
std::vector<Rank> staged(std::uint32_t count, std::uint32_t block, std::uint32_t step,
                         std::mt19937& random)
{
    std::vector<Rank> ranks = sound(count, random);
    const std::uint32_t stage = static_cast<std::uint32_t>(random()) % (count / block);
    const std::uint32_t part = static_cast<std::uint32_t>(random()) % step;
    for (std::uint32_t number = 0; number < count; ++number)
        if (number / block == stage && number % step == part) {
            ranks[number].process().sites[5].at_peak_bytes += 128 * kMiB;
            ranks[number].process().about.peak_device_bytes += 128 * kMiB;
        }
    return ranks;
}

TEST(Job, SaysNothingOfAStageThatHasMoreAtOnePlace)
{
    for (const std::uint32_t count : {16u, 64u, 96u, 512u})
        for (const std::uint32_t block : {2u, 4u, 8u, 16u})
            for (const std::uint32_t step : {1u, 2u, 4u})
                for (std::uint32_t seed = 1; seed <= 5 && step < block; ++seed) {
                    std::mt19937 random(seed);
                    const std::vector<Rank> ranks = staged(count, block, step, random);
                    EXPECT_EQ(faults(joined(ranks)), std::vector<std::string>{})
                        << count << " ranks, block " << block << ", step " << step;
                }
}

TEST(Job, NamesAFewThatAreFarOffOnEachSide)
{
    std::size_t named = 0;
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        std::mt19937 random(seed);
        std::vector<Rank> ranks = sound(64, random);
        const auto more = [&](std::size_t rank, std::uint64_t bytes) {
            ranks[rank].process().sites[3].at_peak_bytes += bytes;
        };
        Numbers planted(64);
        for (std::uint32_t at = 0; at < 64; ++at)
            planted[at] = at;
        std::shuffle(planted.begin(), planted.end(), random);
        for (std::size_t at = 0; at < 4; ++at)
            more(planted[at], at < 3 ? 60 * kMiB : -60 * kMiB);
        std::sort(planted.begin(), planted.begin() + 3);
        const std::vector<std::string> expected{
            fmt::format("far-off layer3 {} {} {}", planted[0], planted[1], planted[2]),
            fmt::format("far-off layer3 {}", planted[3])};
        std::vector<std::string> found = faults(joined(ranks));
        named += std::is_permutation(found.begin(), found.end(), expected.begin(), expected.end());
    }
    EXPECT_EQ(named, 50u);
}

TEST(Job, AQuarterMayBeFarOffAndMoreIsAnotherPart)
{
    const auto found = [](const Numbers& high) {
        std::vector<Rank> ranks;
        for (std::uint32_t number = 0; number < 8; ++number)
            ranks.emplace_back(number).site(
                "load", std::count(high.begin(), high.end(), number) ? 90 * kMiB : kMiB);
        return faults(joined(ranks));
    };
    EXPECT_EQ(found({2, 5}), (std::vector<std::string>{"far-off load 2 5", "far-off peak 2 5"}));
    EXPECT_EQ(found({2, 5, 7}), std::vector<std::string>{});
    EXPECT_EQ(found({3, 7}), std::vector<std::string>{}) << "each fourth: a stage";
}

TEST(Job, APlaceThatOthersHadAtAnotherTimeTellsNoRankApart)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 8; ++number)
        ranks.emplace_back(number)
            .site("first", number == 3 ? 0 : 100 * kMiB)
            .site("second", number == 3 ? 100 * kMiB : 0);
    EXPECT_TRUE(joined(ranks).findings.empty()) << "each has both";
    ranks[3].site("own", 2 * kMiB);
    ranks[5].site("leak_here", 3 * kMiB, kMiB);
    ranks[6].site("leak_here", 0);
    const Job job = joined(ranks);
    EXPECT_EQ(faults(job), (std::vector<std::string>{"alone leak_here 5", "alone own 3"}));
    EXPECT_EQ(values_of(job.findings[0]), "leaked 1 MiB, at peak 3 MiB") << "which is true of it";
}

TEST(Job, WhatWasHeldAtACrashIsNoLeakAndComesBehindThem)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 8; ++number)
        ranks.emplace_back(number).site("load", 8 * kMiB);
    ranks[6].site("leak_here", kMiB, kMiB);
    for (const std::size_t crashed : {2u, 3u}) {
        ranks[crashed].process().sites[0].leaked_bytes = crashed * 4 * kMiB;
        ranks[crashed].process().about.verdict = Verdict::inconclusive;
    }
    const Job job = joined(ranks);
    EXPECT_EQ(faults(job), (std::vector<std::string>{"alone leak_here 6", "held load 2 3"}));
    EXPECT_EQ(job.findings[0].kind, JobFindingKind::alone);
    EXPECT_EQ(job.findings[1].leaked_bytes, 0u);
    EXPECT_EQ(values_of(job.findings[1]), "held at the end 10 MiB on average");
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
    EXPECT_EQ(values_of(job.findings[1]), "grows by 100 B per allocation, at peak 1 MiB");
    EXPECT_EQ(job.processes[0].step, "step");
    EXPECT_EQ(job.processes[1].step, "call");
    EXPECT_EQ(Job(joined({Rank(0)})).processes[0].step, "");
}

TEST(Job, SaysWhereAMeanIsNobodys)
{
    std::vector<Rank> ranks;
    for (std::uint32_t number = 0; number < 4; ++number)
        ranks.emplace_back(number).site("same", 0, kMiB).site("other", 0, (1 + number) * kMiB);
    for (const JobFinding& finding : joined(ranks).findings)
        EXPECT_EQ(finding.leaked_differs, finding.stack.front().function == "other");
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
        ranks.emplace_back(number).device(1000 * kMiB, 900 * kMiB);
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
    ranks[2].site("grow", 0, 0, kMiB);
    EXPECT_FALSE(joined(ranks).runs_out_first) << "how fast rank 2 grows is not known";
}

} // namespace
} // namespace vramscope::report
