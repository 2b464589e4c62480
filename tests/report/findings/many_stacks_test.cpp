// tests/report/findings/many_stacks_test.cpp — more call stacks than are listed, or told apart.
#include <algorithm>

#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "report/findings/make_report.hpp"
#include "report/judge/judge.hpp"
#include "report/words/leak_words.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

TEST(Report, OfMoreStacksThanCanBeListedHasTheLargestAndOneRowForTheOthers)
{
    LogBuilder log;
    const std::uint64_t stacks = kMostListed + 50;
    for (std::uint64_t stack = 1; stack <= stacks; ++stack) {
        log.stack(stack, {0x400000 + stack});
        log.alloc(stack << 20, stack > 50 ? 1024 : 512, stack);
    }
    const Report report = report_of(log);
    EXPECT_EQ(report.verdict, Verdict::leaks);
    EXPECT_EQ(report.totals.leaked_blocks, stacks);
    EXPECT_EQ(report.totals.leaked_bytes, kMostListed * 1024 + 50 * 512);
    ASSERT_EQ(report.leaks.size(), kMostListed + 1);
    const auto others =
        std::find_if(report.leaks.begin(), report.leaks.end(), [](const Leak& leak) {
            return leak.stack.front().function == "(50 other call stacks)";
        });
    ASSERT_NE(others, report.leaks.end());
    EXPECT_EQ(others->blocks, 50u);
    EXPECT_EQ(leaked_stacks(report), stacks);
    EXPECT_EQ(others->bytes, 50u * 512);
    ASSERT_FALSE(report.notices.empty());
    EXPECT_EQ(report.notices.front(), "memory of 5050 call stacks was not freed: the 5000 that "
                                      "hold the most are listed, the others are one row");
}

TEST(Report, OfMoreStacksThanAreToldApartHasTheSumOfTheOthers)
{
    LogBuilder log;
    for (std::uint64_t stack = 1; stack <= kMostSites + 3; ++stack) {
        log.stack(stack, {0x400000 + stack});
        log.alloc(stack << 20, stack > kMostSites ? 1_MiB : 512, stack);
        if (stack <= kMostSites && stack % 1000 != 0)
            log.free(stack << 20);
    }
    const Report report = report_of(log);
    EXPECT_EQ(report.verdict, Verdict::leaks);
    EXPECT_EQ(report.totals.leaked_bytes, kMostSites / 1000 * 512 + 3_MiB);
    ASSERT_EQ(report.leaks.size(), kMostSites / 1000 + 1);
    EXPECT_EQ(report.leaks.front().bytes, 3_MiB);
    EXPECT_EQ(report.leaks.front().blocks, 3u);
    EXPECT_EQ(report.leaks.front().stack.front().function, "(other call stacks)");
    EXPECT_EQ(report.notices.back(), "more than 100000 call stacks allocate: those that began "
                                     "after these are not told apart");
}

} // namespace
} // namespace vramscope::report
