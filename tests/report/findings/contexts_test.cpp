// tests/report/findings/contexts_test.cpp — contexts, what was done in them, and the strays.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

format::ContextOpened opened(std::uint64_t context, std::uint64_t stack = 1)
{
    format::ContextOpened record;
    record.context = context;
    record.opening = format::Opening::retained;
    record.stack = stack;
    return record;
}

LogBuilder recorded()
{
    LogBuilder log;
    log.info("recorded", "contexts");
    log.module(1, 0x400000, 0x400000, 0x500000, "/no/such/program").stack(1, {0x401001});
    return log;
}

LogBuilder& work_in(LogBuilder& log, std::uint64_t context, std::int64_t device,
                    std::string_view api = "cuMemAlloc_v2", std::string_view end = "cuMemFree_v2")
{
    const std::uint64_t address = 0x7f0000000000 + context * 1_MiB;
    log.place({.context = context, .device = device, .stream = 0, .pool = 0, .capturing = false});
    return log.alloc(address, 4096, 1, api).free(address, end);
}

// The process works on device 1, and context 2 is on device 0.
LogBuilder with_a_stray()
{
    LogBuilder log = recorded();
    log.context(1, 1)
        .context_opened(opened(1))
        .context(2, 0)
        .thread_name(41, "watchdog")
        .context_opened(opened(2));
    work_in(log, 1, 1);
    return log;
}

std::string contexts_text(const Report& report)
{
    std::ostringstream out;
    write_contexts(out, report, TextStyle{});
    return out.str();
}

Budget one_device()
{
    Budget budget;
    budget.one_device = true;
    return budget;
}

TEST(Contexts, HaveWhoOpenedThemWhatWasDoneInThemAndWhatEndedThem)
{
    LogBuilder log = with_a_stray();
    log.context_gone(1, 1);
    const Report report = report_of(log);
    ASSERT_EQ(report.contexts.size(), 2u);
    const ContextRow& worked = report.contexts[0];
    EXPECT_EQ(worked.device, 1);
    EXPECT_EQ(worked.opening, format::Opening::retained);
    EXPECT_EQ(worked.allocations, 1u);
    EXPECT_EQ(worked.allocated_bytes, 4096u);
    ASSERT_TRUE(worked.ended);
    EXPECT_EQ(worked.ended->api, "cuCtxDestroy");
    EXPECT_FALSE(worked.stray);
    const ContextRow& stray = report.contexts[1];
    EXPECT_EQ(stray.api, "cuDevicePrimaryCtxRetain");
    EXPECT_EQ(stray.thread.name, "watchdog");
    EXPECT_FALSE(stray.ended);
    EXPECT_TRUE(stray.stray);
    EXPECT_EQ(report.headlines.front().kind, HeadlineKind::stray_contexts);
    const std::string text = contexts_text(report);
    EXPECT_EQ(text.find("2 contexts, 1 of them stray"), 0u) << text;
    EXPECT_NE(text.find("its primary context, stray"), std::string::npos) << text;
    EXPECT_NE(text.find("nothing was allocated in it"), std::string::npos) << text;
    EXPECT_NE(text.find("(watchdog), cuDevicePrimaryCtxRetain"), std::string::npos) << text;
    EXPECT_NE(text.find("open to the end"), std::string::npos) << text;
}

TEST(Contexts, InWhichHostMemoryAloneIsAllocatedAreStrayToo)
{
    LogBuilder log = with_a_stray();
    work_in(log, 2, 0, "cuMemHostAlloc", "cuMemFreeHost");
    EXPECT_TRUE(report_of(log).contexts[1].stray);
}

TEST(Contexts, AreNotStrayWhereSomethingWasDoneOnTheirDevice)
{
    LogBuilder in_it = with_a_stray();
    EXPECT_FALSE(report_of(work_in(in_it, 2, 0)).contexts[1].stray);
    LogBuilder in_another = with_a_stray();
    in_another.context(3, 0);
    EXPECT_FALSE(report_of(work_in(in_another, 3, 0)).contexts[1].stray);
    LogBuilder from_another_device = with_a_stray(); // as cuMemCreate may
    EXPECT_FALSE(report_of(work_in(from_another_device, 1, 0)).contexts[1].stray);
    LogBuilder nobody_knows_where = with_a_stray();
    EXPECT_FALSE(report_of(work_in(nobody_knows_where, 0, -1)).contexts[1].stray);
}

TEST(Contexts, AreNotStrayInAProcessThatDoesNothingAnywhere)
{
    LogBuilder log = recorded();
    log.context(1, 1).context_opened(opened(1)).context(2, 0).context_opened(opened(2));
    EXPECT_FALSE(report_of(log).contexts[0].stray);
    EXPECT_FALSE(report_of(log).contexts[1].stray);
}

TEST(Contexts, TakeWhatWasFreeBeforeAndNotAfter)
{
    LogBuilder log = recorded();
    format::ContextOpened around = opened(1);
    around.free_before = 1000_MiB;
    around.free_after = 488_MiB;
    around.total = 1024_MiB;
    format::ContextOpened after = opened(2);
    after.free_after = 488_MiB;
    after.total = 1024_MiB;
    log.context(1)
        .context_opened(around)
        .context(2)
        .context_opened(after)
        .context(3)
        .context_opened(opened(3));
    const Report report = report_of(log);
    EXPECT_EQ(report.contexts[0].bytes->least, 510_MiB);
    EXPECT_EQ(report.contexts[0].bytes->most, 514_MiB);
    EXPECT_EQ(report.contexts[1].bytes->least, 0u);
    EXPECT_EQ(report.contexts[1].bytes->most, 536_MiB);
    EXPECT_FALSE(report.contexts[2].bytes);
}

TEST(Contexts, OfAnOlderLogAreNotRecorded)
{
    LogBuilder log;
    log.context(1, 1).context(2, 0);
    work_in(log, 1, 1);
    const Report report = report_of(log);
    ASSERT_EQ(report.contexts.size(), 2u);
    EXPECT_FALSE(report.contexts[1].stray);
    EXPECT_NE(contexts_text(report).find("opened by: not recorded"), std::string::npos);
    EXPECT_EQ(check(report, one_device()).exit, Exit::findings); // it has two, whatever else
    LogBuilder with_one;
    with_one.context(1, 1);
    EXPECT_EQ(check(report_of(work_in(with_one, 1, 1)), one_device()).exit, Exit::incomplete);
}

TEST(Contexts, OnOneDevicePassTheGateOnlyIfNothingIsMissing)
{
    LogBuilder log = recorded();
    log.context(1, 1).context_opened(opened(1));
    work_in(log, 1, 1);
    EXPECT_EQ(check(report_of(log), one_device()).exit, Exit::ok);
    LogBuilder lossy = log;
    lossy.header().lost[0] = 1;
    EXPECT_EQ(check(report_of(lossy), one_device()).exit, Exit::incomplete);
    LogBuilder crashed = log;
    crashed.header().end = format::End::unknown;
    EXPECT_EQ(check(report_of(crashed), one_device()).exit, Exit::incomplete);
    LogBuilder nowhere = log;
    nowhere.context(2, -1).context_opened(opened(2));
    EXPECT_EQ(check(report_of(nowhere), one_device()).exit, Exit::incomplete);
    const Report report = report_of(with_a_stray());
    const Check checked = check(report, one_device());
    EXPECT_EQ(checked.exit, Exit::findings);
    const std::vector<Culprit>& contexts = checked.rows.back().culprits;
    ASSERT_EQ(contexts.size(), 2u);
    EXPECT_EQ(contexts[0].place, &report.contexts[1]) << "the stray one first";
}

// As physical memory, whose call names its device.
TEST(Contexts, MemoryOfAnotherDeviceIsNotInThem)
{
    LogBuilder log = recorded();
    log.context(1, 0).context_opened(opened(1)).context(2, 1).context_opened(opened(2));
    work_in(log, 1, 0);
    log.place({.context = 1, .device = 1});
    log.alloc(0x1000, 1_MiB, 1, "cuMemCreate");
    const Report report = report_of(log);
    EXPECT_EQ(report.contexts[0].allocations, 1u);
    EXPECT_FALSE(report.contexts[1].stray);
}

TEST(Contexts, ThatAreStrayAndEndedAreToldSo)
{
    LogBuilder log = with_a_stray();
    log.context_gone(2, 1);
    const std::string rest = report_of(log).headlines.front().rest;
    EXPECT_NE(rest.find("; ended by "), std::string::npos) << rest;
}

TEST(Contexts, OfALossyLogAreNoHeadline)
{
    LogBuilder log = with_a_stray();
    log.header().lost[0] = 1;
    for (const Headline& headline : report_of(log).headlines)
        EXPECT_NE(headline.kind, HeadlineKind::stray_contexts);
}

} // namespace
} // namespace vramscope::report
