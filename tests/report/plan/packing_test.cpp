// tests/report/plan/packing_test.cpp — a placement is one, and never better than what is alive.
#include "report/plan/packing.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vramscope::report::plan {
namespace {

void expect_placed(const std::vector<Lifetime>& blocks, const Packing& packing)
{
    ASSERT_EQ(packing.offsets.size(), blocks.size());
    std::uint64_t height = 0;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
        height = std::max(height, packing.offsets[a] + blocks[a].bytes);
        for (std::size_t b = 0; b < a; ++b) {
            const bool in_time = blocks[a].begin < blocks[b].end && blocks[b].begin < blocks[a].end;
            const bool in_space = packing.offsets[a] < packing.offsets[b] + blocks[b].bytes &&
                                  packing.offsets[b] < packing.offsets[a] + blocks[a].bytes;
            EXPECT_FALSE(in_time && in_space) << a << " and " << b;
        }
    }
    EXPECT_EQ(height, packing.upper);
    EXPECT_GE(packing.upper, packing.lower);
}

TEST(Packing, OfNothingIsNothing)
{
    EXPECT_EQ(pack(std::vector<Lifetime>(), 10).upper, 0u);
}

TEST(Packing, AddsUpWhatIsFarTooLarge)
{
    const std::vector<Lifetime> blocks{{0, 2, std::uint64_t{1} << 63}, {2, 4, 512}};
    EXPECT_EQ(pack(blocks, 10).lower, std::uint64_t{1} << 63);
}

TEST(Packing, SharesMemoryOfThoseThatDoNotLiveTogether)
{
    const std::vector<Lifetime> blocks{{0, 2, 100}, {2, 4, 100}, {0, 4, 50}};
    const Packing packing = pack(blocks, 100);
    expect_placed(blocks, packing);
    EXPECT_EQ(packing.lower, 150u);
    EXPECT_EQ(packing.upper, 150u);
}

// First fit by size needs 5 here: the one of 2 lies over the middle.
TEST(Packing, FindsWhatAGreedyOrderMisses)
{
    const std::vector<Lifetime> blocks{{0, 2, 2}, {1, 4, 1}, {3, 6, 2},
                                       {2, 3, 3}, {5, 8, 1}, {4, 5, 3}};
    const Packing packing = pack(blocks, 2000);
    expect_placed(blocks, packing);
    EXPECT_EQ(packing.lower, 5u);
    EXPECT_LE(packing.upper, 5u);
}

TEST(Packing, OfRandomBlocksIsOneAndNearTheBound)
{
    std::mt19937_64 random(7);
    for (int round = 0; round < 20; ++round) {
        std::vector<Lifetime> blocks;
        for (int at = 0; at < 60; ++at) {
            const std::uint64_t begin = random() % 100;
            blocks.push_back({begin, begin + 1 + random() % 30, 1 + random() % 1000});
        }
        const Packing packing = pack(blocks, 500);
        expect_placed(blocks, packing);
        EXPECT_LE(static_cast<double>(packing.upper), 1.25 * static_cast<double>(packing.lower));
    }
}

TEST(Packing, OfATraceCountsInGranulesOf512Bytes)
{
    Trace trace;
    for (BlockId block = 0; block < 3000; ++block) { // more than are searched
        trace.requests.push_back({.bytes = 1 + block, .block = block});
        trace.sites.push_back(0);
        if (block >= 10)
            trace.requests.push_back({.block = block - 10, .action = Action::free});
    }
    const Packing packing = pack(trace);
    EXPECT_GE(packing.upper, packing.lower);
    EXPECT_EQ(packing.lower % 512, 0u);
    EXPECT_LE(packing.upper, 2 * packing.lower);
}

// MiniMalloc's public instances: id,lower,upper,size; each fits in exactly 1048576.
TEST(Packing, OfMiniMallocsInstancesNeedsLessThanAThirdMore)
{
    const char* const folder = std::getenv("VRAMSCOPE_MINIMALLOC");
    if (!folder)
        GTEST_SKIP() << "VRAMSCOPE_MINIMALLOC names a folder with its *.csv";
    constexpr double kOptimum = 1048576;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.path().filename().string().ends_with(".1048576.csv"))
            continue;
        std::ifstream in(entry.path());
        std::string line;
        std::getline(in, line);
        std::vector<Lifetime> blocks;
        while (std::getline(in, line)) {
            std::replace(line.begin(), line.end(), ',', ' ');
            std::istringstream fields(line);
            std::string id;
            Lifetime block;
            fields >> id >> block.begin >> block.end >> block.bytes;
            blocks.push_back(block);
        }
        const Packing packing = pack(blocks, 5000);
        expect_placed(blocks, packing);
        const double factor = static_cast<double>(packing.upper) / kOptimum;
        fmt::print("{}: {} blocks, lower {:.3f}, upper {:.3f} ({})\n",
                   entry.path().filename().string(), blocks.size(),
                   static_cast<double>(packing.lower) / kOptimum, factor, packing.method);
        EXPECT_LE(factor, 1.3);
        EXPECT_GE(factor, 1.0);
    }
}

} // namespace
} // namespace vramscope::report::plan
