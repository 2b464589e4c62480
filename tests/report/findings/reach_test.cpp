// tests/report/findings/reach_test.cpp — what a search found, put to the rows of what leaked.
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using format::Reach;
using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

constexpr const char* kCall = "cuMemAlloc_v2";

void found(LogBuilder& log, Reach reach, std::uint64_t blocks, const char* chain)
{
    log.reached({{}, {1}, format::Memory::device, {0}, reach, blocks * 1_MiB, blocks, chain},
                kCall);
}

// Five blocks of 1 MiB from one place.
LogBuilder five_blocks()
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/app").stack(1, {0x401000});
    log.place({.context = 1, .device = 0});
    for (std::uint64_t at = 1; at <= 5; ++at)
        log.alloc(at * 0x1000000, 1_MiB, 1, kCall);
    log.add(format::Searched{4096, true, ""});
    return log;
}

std::string leaks_text(const Report& report)
{
    std::ostringstream out;
    write_leaks(out, report, TextStyle{});
    return out.str();
}

TEST(Reach, OfWhatWasFreedAfterTheSearchNothingIsTold)
{
    LogBuilder log = five_blocks();
    found(log, Reach::lost, 1, "");
    found(log, Reach::held, 4, "variable `pool` of app");
    for (std::uint64_t at = 1; at <= 4; ++at)
        log.free(at * 0x1000000);
    const Report report = report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    ASSERT_EQ(report.leaks[0].reach.size(), 1u);
    EXPECT_EQ(report.leaks[0].reach[0].verdict, Reached::lost);
    EXPECT_EQ(report.leaks[0].reach[0].sum.bytes, 1_MiB);
    EXPECT_EQ(report.leaks[0].reach_freed, 0u);
}

TEST(Reach, WhatOneHolderFreedInPartIsWhatIsLeft)
{
    LogBuilder log = five_blocks();
    found(log, Reach::lost, 1, "");
    found(log, Reach::held, 4, "variable `pool` of app");
    log.free(0x1000000).free(0x2000000).free(0x3000000);
    const Report report = report_of(log);
    ASSERT_EQ(report.leaks.at(0).reach.size(), 2u);
    EXPECT_EQ(report.leaks[0].reach[1].sum.blocks, 1u);
    EXPECT_EQ(report.leaks[0].reach[1].sum.bytes, 1_MiB);
}

TEST(Reach, WhichOfSeveralHoldersFreedIsNotKnown)
{
    LogBuilder log = five_blocks();
    found(log, Reach::held, 3, "variable `pool` of app");
    found(log, Reach::held, 2, "variable `other` of app");
    log.free(0x1000000);
    const Report report = report_of(log);
    EXPECT_EQ(report.leaks.at(0).reach.size(), 2u);
    EXPECT_EQ(report.leaks[0].reach_freed, 1u);
    EXPECT_NE(leaks_text(report).find("    1 block of these was freed after the search\n"),
              std::string::npos)
        << leaks_text(report);
}

TEST(Reach, HoldersThatAreNotListedAreCounted)
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/app").stack(1, {0x401000});
    log.place({.context = 1, .device = 0});
    constexpr std::uint64_t kHolders = kMostReachGroups + 3;
    for (std::uint64_t at = 1; at <= kHolders; ++at)
        log.alloc(at * 0x1000000, 1_MiB, 1, kCall);
    log.add(format::Searched{4096, true, ""});
    for (std::uint64_t at = 1; at <= kHolders; ++at)
        found(log, Reach::held, 1, ("variable `v" + std::to_string(at) + "`").c_str());
    const Report report = report_of(log);
    EXPECT_EQ(report.leaks.at(0).reach.size(), kMostReachGroups);
    EXPECT_EQ(report.leaks[0].reach_more, 3u);
    EXPECT_NE(leaks_text(report).find("    ... and 3 other holders\n"), std::string::npos)
        << leaks_text(report);
}

} // namespace
} // namespace vramscope::report
