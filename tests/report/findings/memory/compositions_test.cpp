// tests/report/findings/memory/compositions_test.cpp — what was alive at moments all along a run.
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "report/findings/memory/memory.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::operator""_MiB;

LogBuilder program()
{
    return test::program_with_stacks().place({.context = 1, .device = 0});
}

Report page_report_of(const LogBuilder& log)
{
    const test::TempFile file(log.build());
    Options options;
    options.for_page = true;
    return make_report({file.path()}, options);
}

Compositions compositions_of(const LogBuilder& log)
{
    return page_report_of(log).processes.at(0).memory.at(0).compositions;
}

std::uint64_t offset_of(const CallPlace& place)
{
    return place.stack.empty() ? 0 : place.stack.front().offset & ~0xfffu;
}

// By the offset of the innermost frame.
std::map<std::uint64_t, std::uint64_t> bytes_of(const Compositions& all, const Composition& moment)
{
    std::map<std::uint64_t, std::uint64_t> bytes;
    for (const Composition::Part& part : moment.parts)
        bytes[offset_of(all.stacks.at(part.stack))] += part.bytes;
    return bytes;
}

using Level = std::map<std::uint64_t, std::uint64_t>; // bytes, by each stack's offset

// That of the span around the time.
Composition moment_at(const Compositions& all, std::uint64_t ns)
{
    Composition found;
    for (const Composition& moment : all.moments) {
        if (moment.from_ns <= ns)
            found = moment;
    }
    return found;
}

TEST(Compositions, AreOfTheHighestMomentOfEachSpan)
{
    LogBuilder log = program();
    log.at(1'000'000).alloc(0x1000, 300, 1).alloc(0x2000, 500, 2).free(0x2000);
    log.at(60'000'000).alloc(0x3000, 100, 3).free(0x3000).alloc(0x4000, 50, 3);
    const Compositions all = compositions_of(log);
    const Level both{{0x1000, 300}, {0x2000, 500}};
    EXPECT_EQ(bytes_of(all, moment_at(all, 1000)), both);
    EXPECT_EQ(bytes_of(all, moment_at(all, 2000)), (Level{{0x1000, 300}}));
    EXPECT_EQ(bytes_of(all, moment_at(all, 30'000'000)), (Level{{0x1000, 300}}))
        << "when nothing happened";
    EXPECT_EQ(bytes_of(all, moment_at(all, 59'000'000)), (Level{{0x1000, 300}, {0x3000, 100}}));
    EXPECT_EQ(bytes_of(all, all.moments.back()), (Level{{0x1000, 300}, {0x3000, 50}}));
    EXPECT_EQ(all.moments.back().blocks, 2u);
}

TEST(Compositions, AreNotMadeUnlessTheyAreWanted)
{
    LogBuilder log = program();
    log.alloc(0x1000, 300, 1);
    EXPECT_TRUE(test::report_of(log).processes.at(0).memory.at(0).compositions.moments.empty());
}

TEST(Compositions, OfAContextThatDiedHaveWhatItHadBefore)
{
    LogBuilder log = program();
    log.at(1'000'000).alloc(0x1000, 300, 1).alloc(0x2000, 500, 2);
    log.at(90'000'000).context_gone(1);
    log.at(180'000'000).alloc(0x5000, 7, 4);
    const Compositions all = compositions_of(log);
    const Level both{{0x1000, 300}, {0x2000, 500}};
    std::size_t with_both = 0;
    for (const Composition& moment : all.moments)
        with_both += bytes_of(all, moment) == both ? 1 : 0;
    EXPECT_GE(with_both, 2u) << "when it was made, and while nothing happened";
    EXPECT_EQ(bytes_of(all, all.moments.back()), (Level{{0x4000, 7}}));
}

// What the events up to each of these times left, by a walk over them.
struct Walk {
    struct Life {
        std::uint64_t stack = 0; // its offset
        std::uint64_t bytes = 0;
        std::uint64_t born = 0;
        std::uint64_t left = UINT64_MAX;
    };
    std::map<std::uint64_t, Level> after; // by time
    std::map<std::uint64_t, std::uint64_t> sums;
    std::map<std::uint64_t, Life> lives; // by address
};

struct Calls {
    const char* allocate = "cuMemAlloc_v2";
    const char* free = "cuMemFree_v2";
};

Walk random_walk(LogBuilder& log, std::uint32_t seed, const Calls& calls = {})
{
    std::mt19937 random(seed);
    std::vector<std::pair<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>>> live;
    Walk walk;
    Level level;
    std::uint64_t ticks = 1'000'000;
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < 3000; ++at) {
        ticks += 1 + random() % (random() % 50 == 0 ? 5'000'000 : 3'000);
        log.at(ticks);
        if (live.empty() || random() % 100 < 52) {
            const std::uint64_t stack = 1 + random() % 4;
            const std::uint64_t bytes = 1 + random() % 1000;
            log.alloc(0x10000 + at * 0x1000, bytes, stack, calls.allocate);
            live.push_back({0x10000 + at * 0x1000, {stack, bytes}});
            walk.lives[live.back().first] = {stack * 0x1000, bytes, ticks};
            level[stack * 0x1000] += bytes;
            sum += bytes;
        } else {
            const std::size_t which = random() % live.size();
            const auto [address, block] = live[which];
            log.free(address, calls.free);
            walk.lives[address].left = ticks;
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
            if ((level[block.first * 0x1000] -= block.second) == 0)
                level.erase(block.first * 0x1000);
            sum -= block.second;
        }
        walk.after[ticks] = level;
        walk.sums[ticks] = sum;
    }
    return walk;
}

TEST(Compositions, OfRandomRunsAreWhatAWalkOverTheEventsFinds)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        LogBuilder log = program();
        const std::uint64_t start = log.header().start_ticks;
        const Walk walk = random_walk(log, seed);
        const Compositions all = compositions_of(log);
        ASSERT_GT(all.moments.size(), 20u);
        ASSERT_LE(all.moments.size(), SpanPeaks::kMostSpans);
        for (std::size_t at = 0; at < all.moments.size(); ++at) {
            const Composition& moment = all.moments[at];
            const auto then = std::prev(walk.after.upper_bound(moment.ns + start));
            EXPECT_EQ(bytes_of(all, moment), then->second);
            std::uint64_t most = 0;
            const bool last = at + 1 == all.moments.size();
            const std::uint64_t end = last ? UINT64_MAX : all.moments[at + 1].from_ns + start;
            for (auto sum = walk.sums.lower_bound(moment.from_ns + start);
                 sum != walk.sums.end() && sum->first < end; ++sum)
                most = std::max(most, sum->second);
            EXPECT_GE(moment.bytes, most);
            EXPECT_LE(moment.from_ns, moment.ns);
        }
    }
}

// The bytes of each stack whose spans are taken, by what is told of them, and by the walk.
template <typename Takes>
void expect_same_lives(const Compositions& all, const Walk& walk, std::uint64_t start, Takes takes)
{
    Level told;
    std::uint64_t told_in_all = 0;
    for (const ComposingStack& stack : all.stacks) {
        for (const SpanLife& life : stack.lives) {
            if (takes(life.born, life.left))
                told[offset_of(stack)] += life.bytes;
        }
    }
    for (const SpanLife& life : all.lives)
        told_in_all += takes(life.born, life.left) ? life.bytes : 0;
    const auto span_at = [&](std::uint64_t ticks) {
        std::uint32_t span = 0;
        while (span + 1 < all.moments.size() && all.moments[span + 1].from_ns + start <= ticks)
            ++span;
        return span;
    };
    Level walked;
    std::uint64_t walked_in_all = 0;
    for (const auto& [address, life] : walk.lives) {
        if (!takes(span_at(life.born),
                   life.left == UINT64_MAX ? SpanLife::kAlive : span_at(life.left)))
            continue;
        walked[life.stack] += life.bytes;
        walked_in_all += life.bytes;
    }
    EXPECT_EQ(told, walked);
    EXPECT_EQ(told_in_all, walked_in_all);
}

TEST(Compositions, TellOfAnyRangeWhatCameWhatStayedAndWhatLeft)
{
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        LogBuilder log = program();
        const std::uint64_t start = log.header().start_ticks;
        const Walk walk = random_walk(log, seed);
        const Compositions all = compositions_of(log);
        for (std::uint32_t from = 0; from < all.moments.size(); from += 7) {
            const std::uint32_t to = from + 11;
            SCOPED_TRACE(from);
            expect_same_lives(all, walk, start, [&](std::uint32_t born, std::uint32_t left) {
                return born >= from && born <= to && left > to;
            });
            expect_same_lives(all, walk, start, [&](std::uint32_t born, std::uint32_t left) {
                return born <= to && left > to;
            });
            expect_same_lives(all, walk, start, [&](std::uint32_t, std::uint32_t left) {
                return left >= from && left <= to;
            });
        }
    }
}

TEST(Compositions, OfHostMemoryAreAsThoseOfADevice)
{
    LogBuilder log = program();
    const std::uint64_t start = log.header().start_ticks;
    const Walk walk = random_walk(log, 1, {"cuMemHostAlloc", "cuMemFreeHost"});
    log.alloc(0x1000, 300, 1);
    const Process process = page_report_of(log).processes.at(0);
    const Compositions& host = process.host;
    ASSERT_GT(host.moments.size(), 20u);
    for (const Composition& moment : host.moments)
        EXPECT_EQ(bytes_of(host, moment),
                  std::prev(walk.after.upper_bound(moment.ns + start))->second);
    expect_same_lives(host, walk, start, [](std::uint32_t born, std::uint32_t left) {
        return born >= 3 && born <= 14 && left > 14;
    });
    ASSERT_EQ(process.memory.at(0).compositions.lives.size(), 1u) << "the device has one block";
}

TEST(Compositions, OfHostMemoryThatDiedWithItsContextEndThere)
{
    LogBuilder log = program();
    log.at(1'000'000).alloc(0x1000, 300, 1, "cuMemHostAlloc").alloc(0x2000, 500, 2);
    log.at(90'000'000).context_gone(1);
    log.at(180'000'000).alloc(0x5000, 7, 4, "cuMemHostAlloc");
    const Compositions host = page_report_of(log).processes.at(0).host;
    EXPECT_EQ(bytes_of(host, host.moments.front()), (Level{{0x1000, 300}}));
    EXPECT_EQ(bytes_of(host, host.moments.back()), (Level{{0x4000, 7}}));
}

TEST(Compositions, OfALongRunHaveFewSumsOfManyBlocks)
{
    LogBuilder log = program();
    for (std::uint64_t at = 0; at < 40'000; ++at) {
        log.at(1'000'000 + at * 1000).alloc(0x10000 + at * 0x1000, 10, 1);
        if (at >= 300)
            log.free(0x10000 + (at - 300) * 0x1000);
    }
    const Compositions all = compositions_of(log);
    ASSERT_EQ(all.stacks.size(), 1u);
    EXPECT_LE(all.lives.size(), 4 * SpanPeaks::kMostSpans);
    std::uint64_t blocks = 0;
    std::uint64_t alive = 0;
    for (const SpanLife& life : all.stacks[0].lives) {
        blocks += life.blocks;
        alive += life.left == SpanLife::kAlive ? life.bytes : 0;
        EXPECT_LE(life.born, life.left);
    }
    EXPECT_EQ(blocks, 40'000u);
    EXPECT_EQ(alive, 3000u);
}

TEST(Compositions, TellWhatLeftWithItsContext)
{
    LogBuilder log = program();
    log.at(1'000'000).alloc(0x1000, 300, 1).alloc(0x2000, 500, 2);
    log.at(90'000'000).context_gone(1);
    log.at(180'000'000).alloc(0x5000, 7, 4);
    const Compositions all = compositions_of(log);
    std::uint64_t left = 0;
    for (const SpanLife& life : all.lives)
        left += life.left == SpanLife::kAlive ? 0 : life.bytes;
    EXPECT_EQ(left, 800u);
}

TEST(Compositions, CountSizesWhereBlocksCameAndLifetimesWhereTheyWereFreed)
{
    LogBuilder log = program();
    log.at(1'000'000).alloc(0x1000, 300, 1);
    log.at(90'000'000).alloc(0x2000, 1024, 2);
    log.at(180'000'000).free(0x1000);
    const Compositions all = compositions_of(log);
    const auto counts = [&](std::uint64_t ns, auto member) {
        std::uint64_t sum = 0;
        for (const Composition& moment : all.moments) {
            if (moment.from_ns <= ns)
                sum += std::accumulate((moment.*member).begin(), (moment.*member).end(), 0u);
        }
        return sum;
    };
    EXPECT_EQ(counts(1'500'000, &Composition::sizes), 1u);
    EXPECT_EQ(counts(UINT64_MAX, &Composition::sizes), 2u);
    EXPECT_EQ(counts(150'000'000, &Composition::lifetimes), 0u);
    EXPECT_EQ(counts(UINT64_MAX, &Composition::lifetimes), 1u);
    EXPECT_EQ(all.moments.front().sizes.at(9), 1u) << "300 has nine bits";
    EXPECT_EQ(all.moments.back().lifetimes.at(6), 1u) << "below a second";
}

TEST(PoolMaps, NameTheOwnersOfBlocksAtThePeakAndAtTheEnd)
{
    LogBuilder log = program();
    log.segment(0x100000000, 8_MiB).pooled(0x100000000, 1_MiB, 0, 1);
    log.pooled(0x100200000, 2_MiB, 0, 2).free(0x100200000).reusable();
    log.pooled(0x100400000, 1_MiB, 0, 1);
    const Report report = page_report_of(log);
    const PoolDevice& pool = report.processes.at(0).pool.devices.at(0);
    ASSERT_EQ(pool.at_peak.owners.size(), 2u);
    EXPECT_EQ(offset_of(pool.at_peak.owners[0]), 0x2000u);
    EXPECT_EQ(pool.at_peak.owners[0].bytes, 2_MiB);
    ASSERT_EQ(pool.at_end.owners.size(), 1u);
    EXPECT_EQ(offset_of(pool.at_end.owners[0]), 0x1000u);
    EXPECT_EQ(pool.at_end.owners[0].blocks, 2u);
    for (const BlockPiece& piece : pool.at_end.segments.at(0).blocks)
        EXPECT_EQ(piece.owner, piece.state == BlockState::inactive ? kNoOwner : 0);
}

TEST(PoolMaps, OfAShortageHaveTheSegmentsThen)
{
    LogBuilder log = program();
    log.segment(0x100000000, 8_MiB).pooled(0x100000000, 1_MiB, 0, 3);
    log.failed(2, 64_MiB, "cuMemAlloc_v2", 4).out_of_memory({0, 64_MiB, 1_MiB, 16_MiB});
    log.free(0x100000000);
    const Report report = page_report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    const PoolMap& map = report.shortages[0].pieces;
    ASSERT_EQ(map.owners.size(), 1u);
    EXPECT_EQ(offset_of(map.owners[0]), 0x3000u);
    EXPECT_EQ(map.ns, report.shortages[0].at_ns);
}

} // namespace
} // namespace vramscope::report
