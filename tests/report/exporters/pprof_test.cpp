// tests/report/exporters/pprof_test.cpp — pprof's files of made-up logs, and protobuf's messages.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/exporters/protobuf.hpp"
#include "tests/report/exporters/export_sums.hpp"

namespace vramscope::report {
namespace {

TEST(Pprof, HasBlocksAndNotWhatTheyWereCutFrom)
{
    const LogBuilder log = test::program_that_cuts();
    const auto sums = pprof_sums(exported(export_pprof, log));
    EXPECT_EQ(sums, (std::array<std::uint64_t, 4>{3, 12 << 20, 2, 8 << 20}));
    EXPECT_EQ(sums, sums_of(test::report_of(log).totals));
}

TEST(Pprof, SumsUpWhatTheReportDoes)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100).alloc(0x2000, 11);
    log.alloc(0x5000, 7, 0, "cuMemHostAlloc").alloc(0x6000, 1000, 0, "cuMemAddressReserve");
    log.free(0x2000).context_gone(1).alloc(0x3000, 50);
    EXPECT_EQ(pprof_sums(exported(export_pprof, log)), sums_of(test::report_of(log).totals));
    EXPECT_EQ(pprof_sums(exported(export_pprof, log)),
              (std::array<std::uint64_t, 4>{4, 168, 3, 157}));
}

TEST(Pprof, HasTextsThatAreUtf8WhateverTheLogSays)
{
    LogBuilder log;
    log.info("command", "x\xff").module(1, 0x400000, 0x400000, 0x500000, "/gone/\xc0z");
    log.stack(1, {0x401001}).push("step\n\xfe").alloc(0x1000, 1, 1);
    const std::vector<std::string> texts = pprof_texts(exported(export_pprof, log));
    EXPECT_EQ(texts.at(0), "");
    for (const char* const text : {"x\\xff", "/gone/\\xc0z", "step\\x0a\\xfe", "inuse_space"})
        EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 1) << text;
}

TEST(Pprof, SaysWhyItMayNotBeAll)
{
    LogBuilder log;
    log.alloc(0x1000, 1);
    log.header().lost[0] = 2;
    const std::vector<std::string> texts = pprof_texts(exported(export_pprof, log));
    EXPECT_EQ(std::count(texts.begin(), texts.end(), "inconclusive: 2 events were lost"), 1);
}

TEST(ProtobufMessage, IsAsTheWireFormatSays)
{
    ProtobufMessage inner;
    inner.number(1, 150);
    EXPECT_EQ(inner.encoded(), "\x08\x96\x01");
    ProtobufMessage outer;
    outer.message(3, inner).bytes(2, "testing").number(4, 0);
    EXPECT_EQ(outer.encoded(), "\x1a\x03\x08\x96\x01\x12\x07testing");
    ProtobufMessage list;
    list.numbers(6, std::array<std::uint64_t, 3>{3, 270, 86942});
    EXPECT_EQ(list.encoded(), "\x32\x06\x03\x8e\x02\x9e\xa7\x05");
}

} // namespace
} // namespace vramscope::report
