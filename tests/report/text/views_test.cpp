// tests/report/text/views_test.cpp — peak, frag, timeline and churn as a person reads them.
//
// They are compared with tests/golden to the byte.
#include "report/text/views.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "report/words/words.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::expect_golden;
using test::LogBuilder;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;
using test::operator""_GiB;

using Write = void (*)(std::ostream&, const Report&, const TextStyle&);

// Loads, trains in steps that fragment the pool, runs out of memory, and evaluates.
Report split_run()
{
    constexpr std::uint64_t kLarge = 0x7f0000000000;
    constexpr std::uint64_t kMore = 0x7e0000000000;
    LogBuilder log = test::program_with_stacks();
    log.info("program", "train").info("command", "./train --steps 12");
    log.info("pool.mode", "split").info("pool.sync", "lazy");
    log.device(0, 4_GiB, "Simulated GPU").context(1).place({.context = 1, .device = 0});
    const std::uint64_t start = log.header().start_ticks;
    log.at(start + 2'000'000).device_memory(4_GiB - 300_MiB, 4_GiB).segment(kLarge, 2_GiB);
    log.push("load").pooled(kLarge, 700_MiB - 1000, 1000, 1).pooled(kLarge + 700_MiB, 60_MiB, 0, 2);
    log.pop().mark("loaded").alloc(0x1000000, 200_MiB, 3, "cuMemAllocManaged");
    for (std::uint64_t step = 0; step < 12; ++step) {
        log.at(start + 20'000'000 + step * 10'000'000)
            .push("train")
            .push("step " + std::to_string(step));
        log.pooled(kLarge + 760_MiB + step * 80_MiB, 64_MiB, 0, 4);
        log.pooled(kLarge + 824_MiB + step * 80_MiB, 16_MiB, 0, 5);
        log.pop().pop();
        if (step == 8)
            log.free(kLarge + 700_MiB);
    }
    log.at(start + 150'000'000)
        .mark("trained")
        .segment(kMore, 512_MiB)
        .pooled(kMore, 400_MiB, 0, 6);
    for (std::uint64_t step = 0; step < 12; ++step)
        log.free(kLarge + 760_MiB + step * 80_MiB);
    log.reusable(0, true).failed(2, 600_MiB, "cuMemAlloc_v2", 7);
    log.out_of_memory({.device = 0,
                       .requested = 600_MiB,
                       .free = 100_MiB,
                       .total = 4_GiB,
                       .allocated = 1292_MiB,
                       .reserved = 2_GiB + 512_MiB,
                       .largest_gap = 328_MiB});
    log.push("evaluate").free(kMore).free(kLarge).pop();
    log.at(start + 180'000'000).device_memory(1_GiB, 4_GiB).mark("done \x1b[31m");
    Report report = report_of(log);
    report.processes[0].log = "train.vsl";
    return report;
}

// Takes and gives back the same memory in each step.
Report churning_run()
{
    LogBuilder log = test::program_with_stacks();
    log.info("program", "train").info("pool.mode", "off").place({.context = 1, .device = 0});
    const std::uint64_t start = log.header().start_ticks;
    for (std::uint64_t step = 0; step < 2000; ++step) {
        log.at(start + step * 50'000).alloc(0x1000, 4_MiB, 1).at(log.now() + 20'000);
        log.free(0x1000);
        log.alloc(0x2000000 + step % 3 * 0x100000, 64_KiB + step % 3, 2);
        if (step >= 2)
            log.free(0x2000000 + (step - 2) % 3 * 0x100000);
    }
    log.driver_time("cuMemAlloc_v2", 4000, 30'000'000, 900'000);
    log.driver_time("cuMemFree_v2", 3998, 2'500'000, 40'000);
    Report report = report_of(log);
    report.processes[0].log = "train.vsl";
    return report;
}

// Two processes without a pool, one of which was killed; nothing was asked of the driver.
Report plain_run()
{
    LogBuilder one = test::program_with_stacks();
    one.info("program", "rank").info("pool.mode", "off");
    one.place({.context = 1, .device = 0}).alloc(0x1000, 3_GiB, 1).alloc(0x2000, 500_MiB, 2);
    one.place({.context = 2, .device = 1}).alloc(0x3000, 1_GiB, 1).free(0x2000);
    LogBuilder two = test::program_with_stacks();
    two.header().pid = 4243;
    two.header().end = format::End::unknown;
    two.info("program", "rank").alloc(0x1000, 100_MiB, 1);
    const test::TempFile first(one.build());
    const test::TempFile second(two.build());
    Report report = make_report({first.path(), second.path()});
    report.processes[0].log = "rank 0.vsl";
    report.processes[1].log = "rank1.vsl";
    return report;
}

std::string text_of(Write write, const Report& report, std::size_t width = 100)
{
    std::ostringstream out;
    write(out, report, {.width = width});
    return out.str();
}

TEST(ViewText, PeakOfASplitRun)
{
    expect_golden("split_peak.txt", text_of(write_peak, split_run()));
}

TEST(ViewText, FragmentationOfASplitRun)
{
    expect_golden("split_frag.txt", text_of(write_fragmentation, split_run()));
}

TEST(ViewText, TimelineOfASplitRun)
{
    expect_golden("split_timeline.txt", text_of(write_timeline, split_run()));
}

TEST(ViewText, ChurnOfALoop)
{
    expect_golden("loop_churn.txt", text_of(write_churn, churning_run()));
}

TEST(ViewText, WithoutAPoolItIsSaidWhatIsNotKnown)
{
    const Report report = plain_run();
    expect_golden("plain_frag.txt", text_of(write_fragmentation, report));
    expect_golden("plain_peak.txt", text_of(write_peak, report));
}

TEST(ViewText, NothingIsSaidSo)
{
    const Report report = report_of(LogBuilder());
    EXPECT_EQ(text_of(write_peak, report).rfind("PEAK: no device memory was seen\n", 0), 0u);
    EXPECT_EQ(text_of(write_fragmentation, report).rfind("FRAGMENTATION: no device", 0), 0u);
    EXPECT_EQ(text_of(write_timeline, report).rfind("TIMELINE: no device", 0), 0u);
}

TEST(ViewText, NarrowTerminalsAreRespected)
{
    for (const Report& report : {split_run(), plain_run()}) {
        for (const std::size_t width : {80u, 100u, 200u}) {
            for (const Write write : {write_peak, write_fragmentation, write_timeline}) {
                std::istringstream lines(text_of(write, report, width));
                for (std::string line; std::getline(lines, line);)
                    EXPECT_LE(columns(line), width) << line;
            }
        }
    }
}

TEST(ViewText, NamesCannotCommandATerminal)
{
    for (const Write write : {write_peak, write_fragmentation, write_timeline})
        EXPECT_EQ(text_of(write, split_run()).find('\x1b'), std::string::npos);
}

} // namespace
} // namespace vramscope::report
