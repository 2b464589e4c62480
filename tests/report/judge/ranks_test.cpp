// tests/report/judge/ranks_test.cpp — several processes side by side: their differences.
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/sections.hpp"
#include "report/words/words.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of_all;
using test::operator""_KiB;
using test::operator""_MiB;

constexpr const char* kNoRank = "";

// A process that leaks `common` bytes where all do, and `own` where only some do.
LogBuilder process(std::uint32_t pid, const std::string& rank, std::uint64_t common,
                   std::uint64_t own = 0)
{
    LogBuilder log;
    log.header().pid = pid;
    log.info("program", "train");
    if (!rank.empty())
        log.info("rank", rank).info("world_size", "4").info("launcher", "torchrun");
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train");
    log.stack(1, {0x401001}).stack(2, {0x402001});
    log.place({.context = 1, .device = static_cast<std::int64_t>(pid % 4)});
    log.alloc(0x1000, common, 1).alloc(0x2000, 1_MiB, 1).free(0x2000);
    if (own > 0)
        log.alloc(0x3000, own, 2);
    return log;
}

std::string text_of(const Report& report, std::size_t width = 100)
{
    std::ostringstream out;
    write_ranks(out, report, {.width = width});
    return out.str();
}

TEST(Ranks, AreRowsInTheirOrderAndSayWhoDiffers)
{
    LogBuilder killed = process(103, "3", 10_KiB, 5_KiB);
    killed.header().waited = 1;
    killed.header().wait_status = 9;
    // The order is not that of the ranks.
    const Report report = report_of_all(
        {killed, process(100, "0", 10_KiB), process(102, "2", 10_KiB), process(101, "1", 30_KiB)});
    EXPECT_EQ(text_of(report),
              "\n"
              " Rank  Process  Program  Verdict       Peak requested  Not freed    Blocks\n"
              "    0      100  train    leaks                  1 MiB     10 KiB         1\n"
              "    1      101  train    leaks                  1 MiB     30 KiB         1\n"
              "    2      102  train    leaks                  1 MiB     10 KiB         1\n"
              "    3      103  train    inconclusive           1 MiB     15 KiB         2\n"
              "\n"
              "Not freed, by call stack:\n"
              "  3 of 4 ranks (0-2): 10 KiB to 30 KiB, 3 blocks  cuMemAlloc  train+0x1000\n"
              "  1 of 4 ranks (3): 10 KiB, 1 block  cuMemAlloc  train+0x1000\n"
              "  1 of 4 ranks (3): 5 KiB, 1 block  cuMemAlloc  train+0x2000\n");
}

TEST(Ranks, OneThatIsCleanAndHasFindingsSaysSo)
{
    LogBuilder twice = process(101, "1", 10_KiB);
    twice.free(0x1000).failed_free(0x1000, 1);
    LogBuilder imports = process(102, "2", 10_KiB);
    imports.free(0x1000).alloc(0x9000, 1_MiB, 1, "cuIpcOpenMemHandle_v2");
    const Report report = report_of_all({process(100, "0", 10_KiB), twice, imports});
    EXPECT_EQ(report.ranks.rows[1].verdict, Verdict::clean);
    EXPECT_NE(text_of(report).find("  train    with findings  "), std::string::npos)
        << text_of(report);
    EXPECT_EQ(report.ranks.rows[2].verdict, Verdict::leaks) << "an import was never closed";
}

TEST(Ranks, ALeakOfAllIsOneLine)
{
    const Report report = report_of_all({process(100, "0", 10_KiB), process(101, "1", 10_KiB),
                                         process(102, "2", 10_KiB), process(103, "3", 10_KiB)});
    EXPECT_NE(
        text_of(report).find("\n  all 4 ranks: 10 KiB each, 4 blocks  cuMemAlloc  train+0x1000\n"),
        std::string::npos)
        << text_of(report);
}

TEST(Ranks, ACallStackOfSeveralIsCountedOnce)
{
    const Report report =
        report_of_all({process(100, "0", 10_KiB), process(101, "1", 10_KiB),
                       process(102, "2", 10_KiB), process(103, "3", 10_KiB, 5_KiB)});
    EXPECT_EQ(report.headlines.front().sentence(),
              "Leaks in all 4 ranks: 45 KiB in 5 blocks were not freed, from 2 call stacks");
}

TEST(Ranks, ThoseWithoutALogAreNamed)
{
    const Report report = report_of_all({process(100, "2", 10_KiB), process(101, "0", 10_KiB)});
    EXPECT_EQ(compare_ranks(report).missing, (std::vector<std::uint32_t>{1, 3}));
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_EQ(report.reasons, std::vector<std::string>{
                                  "there is no log of ranks 1, 3: no CUDA call was made there, "
                                  "or the log is elsewhere"});
    EXPECT_NE(report.headlines.front().sentence().find("20 KiB in 2 blocks"), std::string::npos)
        << "what others leaked is told all the same: " << report.headlines.front().sentence();
}

TEST(Ranks, OfAnotherJobAreNoLogsOfThisOne)
{
    std::vector<LogBuilder> logs;
    for (const char* const rank : {"0", "1", "2", "3"})
        logs.push_back(process(100, rank, 10_KiB).info("job", rank[0] < '2' ? "a" : "b"));
    const Report report = report_of_all(logs);
    EXPECT_EQ(report.ranks.missing, (std::vector<std::uint32_t>{0, 1, 2, 3})) << "each has four";
    EXPECT_EQ(report.notices,
              std::vector<std::string>{"these are logs of 2 jobs (a, b), whose ranks are counted "
                                       "together here: read each job's by itself"});
}

TEST(Ranks, WithoutAWorldTheLargestProvesThatSmallerOnesExist)
{
    std::vector<LogBuilder> logs;
    for (const char* const rank : {"0", "1", "3"})
        logs.push_back(process(100, kNoRank, 10_KiB).info("rank", rank));
    EXPECT_EQ(report_of_all(logs).ranks.missing, std::vector<std::uint32_t>{2});
    logs.pop_back();
    EXPECT_EQ(report_of_all(logs).ranks.missing, std::vector<std::uint32_t>{});
}

// Four ranks on two nodes.
TEST(Ranks, LogsOfOneNodeAreOfThatNodesRanks)
{
    const auto missing = [](const std::vector<std::pair<const char*, const char*>>& ranks) {
        std::vector<LogBuilder> logs;
        for (const auto& [rank, local_rank] : ranks)
            logs.push_back(process(100, rank, 10_KiB)
                               .info("local_rank", local_rank)
                               .info("local_world_size", "2"));
        return report_of_all(logs).ranks.missing;
    };
    using Numbers = std::vector<std::uint32_t>;
    EXPECT_EQ(missing({{"2", "0"}, {"3", "1"}}), Numbers{});
    EXPECT_EQ(missing({{"2", "0"}}), Numbers{3});
    EXPECT_EQ(missing({{"2", "0"}, {"0", "0"}}), (Numbers{1, 3})) << "of two nodes: the world";
    EXPECT_EQ(missing({{"0", "0"}, {"2", "1"}}), (Numbers{1, 3})) << "dealt out in turn";
}

TEST(Ranks, ProcessesThatAreNoneGoByTheirNumber)
{
    const Report report =
        report_of_all({process(7, kNoRank, 10_KiB), process(8, kNoRank, 10_KiB, 3_KiB)});
    const std::string text = text_of(report);
    EXPECT_EQ(text.find("Rank"), std::string::npos);
    EXPECT_NE(text.find("\n Process  Program  Verdict "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  all 2 processes: 10 KiB each, "), std::string::npos) << text;
    EXPECT_NE(text.find("\n  1 of 2 processes (8): 3 KiB, 1 block  "), std::string::npos) << text;
}

TEST(Ranks, OfOneProcessThereIsNothingToCompare)
{
    EXPECT_EQ(text_of(report_of_all({process(7, "0", 10_KiB)})), "");
}

TEST(Ranks, ANumberThatIsNoneIsNoRank)
{
    for (const char* wrong : {"x", "-1", "1x", "4294967295", "99999999999"}) {
        LogBuilder log = process(7, kNoRank, 1);
        log.info("rank", wrong).info("world_size", wrong);
        const Ranks ranks = compare_ranks(report_of_all({log}));
        EXPECT_FALSE(ranks.rows.at(0).rank.has_value()) << wrong;
        EXPECT_TRUE(ranks.missing.empty()) << wrong;
    }
}

TEST(Ranks, NamesOfProgramsAreSafeForATerminalAndFit)
{
    LogBuilder log = process(8, "0", 10_KiB);
    log.header().pid = 4'194'304;
    const std::string name = "\x1b[2J" + std::string(60, 'x');
    LogBuilder named;
    named.info("program", name).alloc(0x1000, 10_KiB, 1);
    const std::string text = text_of(report_of_all({log, named}), 80);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(columns(line), 90u) << line;
}

} // namespace
} // namespace vramscope::report
