// tests/report/text/report_test.cpp — the printed reports, compared with tests/golden to the byte.
#include <functional>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/findings/make_report.hpp"
#include "report/text/views.hpp"
#include "report/words/words.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::expect_golden;
using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;
using test::operator""_GiB;

Frame frame(std::string function, std::string file, int line)
{
    Frame frame;
    frame.function = std::move(function);
    frame.file = std::move(file);
    frame.line = line;
    frame.module = "/home/ada/train/build/train";
    frame.offset = 0x4a10;
    return frame;
}

// A run of a training program as a log. Its stacks are replaced by known names, as symbols are not
// under test here.
Report training_run()
{
    LogBuilder log;
    log.info("program", "train").info("command", "./build/train --steps 40");
    log.info("driver.path", "/usr/lib/libcuda.so.1")
        .info("driver.version", "12.4")
        .info("driver.simulated", "1");
    log.device(0, 24_GiB, "Simulated GPU")
        .thread_name(4242, "train")
        .place({.context = 1, .device = 0});
    log.at(2'000'000).alloc(0x10000, 512_MiB, 1).alloc(0x20000, 96_MiB, 2, "cuMemHostAlloc");
    for (std::uint64_t step = 0; step < 40; ++step) {
        log.at(20'000'000 + step * 30'000'000).push("epoch").push("step");
        log.alloc(0x100000 + step * 0x10000, 80_KiB, 3).alloc(0x30000, 4_MiB, 4).free(0x30000);
        log.pop().pop();
    }
    log.free(0x10000);
    log.header().start_real_ns = 1'763'700'000'000'000'000;
    const TempFile file(log.build());
    Report report = make_report({file.path()});
    report.processes[0].log = "vramscope.train.4242.vsl";
    for (Leak& leak : report.leaks) {
        const bool pinned = leak.memory == format::Memory::pinned;
        leak.api = pinned ? "cudaHostAlloc" : "cudaMalloc";
        leak.stack = {
            frame(pinned ? "(anonymous namespace)::Loader::Loader(std::filesystem::path const&, "
                           "std::size_t)"
                         : "Trainer::augment<float, std::vector<Sample, "
                           "std::allocator<Sample>>>(Batch<float> const&, "
                           "std::vector<Sample, std::allocator<Sample>>&)",
                  "/home/ada/train/src/" + std::string(pinned ? "loader.cu" : "augment.cu"), 87),
            frame("Trainer::step(int)", "/home/ada/train/src/trainer.cu", 131),
            frame("main", "/home/ada/train/src/main.cu", 42)};
        for (Growth& growth : report.growth)
            if (growth.memory == leak.memory)
                static_cast<CallPlace&>(growth) = leak;
    }
    return report;
}

Report crashed_run()
{
    LogBuilder log;
    log.info("program", "infer").place({.context = 1, .device = 1});
    log.module(1, 0x400000, 0x400000, 0x500000, "/opt/infer/bin/infer", "x")
        .stack(1, {0x401001, 0x402001}, true);
    log.at(50'000'000).alloc(0x10000, 3_GiB, 1).alloc(0x20000, 1_GiB, 0).failed(2, 8_GiB);
    log.header().end = format::End::unknown;
    log.header().waited = 1;
    log.header().wait_status = 6;
    log.header().lost[0] = 12;
    const TempFile file(log.build());
    Report report = make_report({file.path()});
    report.processes[0].log = "my logs/vramscope.infer.77.vsl";
    return report;
}

// It has one example of everything that is listed beside leaks.
Report careless_run()
{
    LogBuilder log;
    log.info("program", "careless").place({.context = 1, .device = 0});
    log.module(1, 0x400000, 0x400000, 0x500000, "/opt/careless", "x");
    for (std::uint64_t id = 1; id <= 6; ++id)
        log.stack(id, {0x400001 + id * 0x1000, 0x409001});
    log.at(2'000'000).alloc(0x10000, 64_KiB, 1).free(0x10000, "cuMemFree_v2", 2);
    log.failed_free(0x10000, 3).failed_free(0x10000, 3).alloc(0x20000, 1_MiB, 1);
    log.failed_free(0x20100, 4).shared(0x20000).failed(2, 8_GiB, "cuMemAlloc_v2", 5);
    log.alloc(0x70, 0, 6, "cuMemPoolCreate").alloc(0x30000, 2_MiB, 6, "cuGraphAddMemAllocNode");
    log.alloc(0x40000, 4_MiB, 5, "cuIpcOpenMemHandle_v2");
    const TempFile file(log.build());
    Report report = make_report({file.path()});
    report.processes[0].log = "careless.vsl";
    return report;
}

// A splitting pool that ran out of memory, and a program that wrote where it should not.
Report pooled_run()
{
    LogBuilder log;
    log.info("program", "infer").info("command", "./infer --batch 8");
    log.info("pool.mode", "split").info("pool.sync", "strict").info("pool.poison", "0xde");
    log.device(0, 24_GiB, "Simulated GPU").context(1).place({.context = 1, .device = 0});
    log.module(1, 0x400000, 0x400000, 0x500000, "/opt/infer", "x");
    for (std::uint64_t id = 1; id <= 6; ++id)
        log.stack(id, {0x400001 + id * 0x1000, 0x409001});
    constexpr std::uint64_t kLarge = 0x7f0000000000;
    constexpr std::uint64_t kSmall = 0x7e0000000000;
    log.at(2'000'000).segment(kLarge, 20_GiB).pooled(kLarge, 9_GiB, 0, 1);
    log.pooled(kLarge + 9_GiB, 5_GiB - 100, 100, 2).pooled(kLarge + 14_GiB, 3_GiB, 0, 1);
    log.segment(kSmall, 2_MiB).pooled(kSmall, 1000, 24, 3).pooled(kSmall + 1024, 64_KiB, 0, 3);
    log.free(kSmall, "cuMemFree_v2", 4).reusable(0, true);
    log.damaged(format::Damage::use_after_free, kSmall, 16, 8, 5).pooled(kSmall, 512, 0, 3);
    log.free(kSmall + 1024).damaged(format::Damage::overrun, kSmall, 512, 4, 5);
    log.free(kLarge + 9_GiB)
        .reusable(0, true)
        .retried(8_GiB, 2)
        .failed(2, 8_GiB, "cuMemAlloc_v2", 6);
    log.out_of_memory({.device = 0,
                       .requested = 8_GiB,
                       .free = 4_GiB - 2_MiB,
                       .total = 24_GiB,
                       .allocated = 12_GiB,
                       .reserved = 20_GiB + 2_MiB,
                       .largest_gap = 5_GiB});
    log.failed(2, 40_GiB, "cuMemAlloc_v2", 6);
    log.out_of_memory({.device = 0,
                       .requested = 40_GiB,
                       .free = 4_GiB - 2_MiB,
                       .total = 24_GiB,
                       .allocated = 12_GiB,
                       .reserved = 20_GiB + 2_MiB,
                       .largest_gap = 5_GiB});
    log.free(kSmall).free(kLarge).free(kLarge + 14_GiB);
    const TempFile file(log.build());
    Report report = make_report({file.path()});
    report.processes[0].log = "infer.vsl";
    return report;
}

Report two_ranks()
{
    LogBuilder one;
    one.info("program", "rank").info("command", "./rank 0").alloc(0x1000, 1_MiB, 1).free(0x1000);
    LogBuilder two;
    two.info("program", "rank").info("command", "./rank 1").alloc(0x1000, 2_MiB, 1);
    two.header().pid = 4243;
    two.header().end = format::End::underscore_exit;
    const TempFile first(one.build());
    const TempFile second(two.build());
    Report report = make_report({first.path(), second.path()});
    report.processes[0].log = "rank0.vsl";
    report.processes[1].log = "rank1.vsl";
    return report;
}

Report clean_run()
{
    LogBuilder log;
    log.info("program", "tidy").alloc(0x1000, 1_MiB, 1).free(0x1000);
    const TempFile file(log.build());
    Report report = make_report({file.path()});
    report.processes[0].log = "vramscope.tidy.1.vsl";
    return report;
}

std::string text_of(const std::function<void(std::ostream&)>& write)
{
    std::ostringstream out;
    write(out);
    return out.str();
}

void expect_width(const std::string& text, std::size_t width)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(columns(line), width) << line;
}

TEST(Text, ReportOfATrainingRun)
{
    const Report report = training_run();
    const std::string text = text_of([&](std::ostream& out) { write_report(out, report); });
    expect_width(text, 100);
    expect_golden("training_report.txt", text);
}

TEST(Text, LeaksOfATrainingRun)
{
    const Report report = training_run();
    expect_golden("training_leaks.txt",
                  text_of([&](std::ostream& out) { write_leaks(out, report); }));
}

TEST(Text, SummaryOfATrainingRun)
{
    const Report report = training_run();
    const std::string text = text_of([&](std::ostream& out) { write_summary(out, report); });
    expect_width(text, 100);
    expect_golden("training_summary.txt", text);
}

TEST(Text, TheSummaryNamesAlikeDevicesTogetherAndKeepsWithinItsWidth)
{
    Report report = training_run();
    const std::string name = "NVIDIA RTX 6000 Ada Generation";
    report.processes[0].devices.clear();
    for (const std::int32_t ordinal : {0, 1, 2, 4})
        report.processes[0].devices.push_back({ordinal, 24_GiB, name});
    report.processes[0].devices.push_back({5, 24_GiB, "Simulated\x1b GPU"});
    const std::string text = text_of([&](std::ostream& out) { write_summary(out, report); });
    expect_width(text, 100);
    EXPECT_EQ(text.find("vramscope: ran on the simulated GPU, devices 0 to 2: " + name), 0u)
        << text;
    EXPECT_NE(text.find(", device 4:\nvramscope: " + name), std::string::npos) << text;
    EXPECT_NE(text.find(", device 5: Simulated\\x1b GPU"), std::string::npos) << text;
}

TEST(Text, ReportOfACrash)
{
    const Report report = crashed_run();
    const std::string text = text_of([&](std::ostream& out) { write_report(out, report); });
    expect_width(text, 100);
    expect_golden("crash_report.txt", text);
}

TEST(Text, SummaryOfACrash)
{
    const Report report = crashed_run();
    expect_golden("crash_summary.txt",
                  text_of([&](std::ostream& out) { write_summary(out, report); }));
}

TEST(Text, ReportOfTwoRanks)
{
    const Report report = two_ranks();
    expect_golden("ranks_report.txt",
                  text_of([&](std::ostream& out) { write_report(out, report); }));
}

TEST(Text, SummaryOfACleanRun)
{
    const Report report = clean_run();
    expect_golden("clean_summary.txt",
                  text_of([&](std::ostream& out) { write_summary(out, report); }));
}

TEST(Text, ReportOfACarelessRun)
{
    const Report report = careless_run();
    const std::string text = text_of([&](std::ostream& out) { write_report(out, report); });
    expect_width(text, 100);
    expect_golden("careless_report.txt", text);
}

TEST(Text, SummaryOfACarelessRun)
{
    const Report report = careless_run();
    const std::string text = text_of([&](std::ostream& out) { write_summary(out, report); });
    expect_width(text, 100);
    expect_golden("careless_summary.txt", text);
}

TEST(Text, ReportOfAPooledRun)
{
    const Report report = pooled_run();
    const std::string text = text_of([&](std::ostream& out) { write_report(out, report); });
    expect_width(text, 100);
    expect_golden("pooled_report.txt", text);
}

TEST(Text, SummaryOfAPooledRun)
{
    const Report report = pooled_run();
    const std::string text = text_of([&](std::ostream& out) { write_summary(out, report); });
    expect_width(text, 100);
    expect_golden("pooled_summary.txt", text);
}

TEST(Text, NarrowTerminalsAreRespected)
{
    for (const Report& report :
         {training_run(), crashed_run(), careless_run(), pooled_run(), two_ranks()}) {
        for (const std::size_t width : {80u, 93u, 132u})
            expect_width(
                text_of([&](std::ostream& out) { write_report(out, report, {.width = width}); }),
                width);
    }
}

TEST(Text, ColorComesOnlyWhenAskedFor)
{
    const Report report = training_run();
    const std::string plain = text_of([&](std::ostream& out) { write_report(out, report); });
    EXPECT_EQ(plain.find('\x1b'), std::string::npos);
    const std::string colored =
        text_of([&](std::ostream& out) { write_report(out, report, {.color = true}); });
    EXPECT_EQ(colored.rfind("\x1b[1;31mLEAKS\x1b[0m: ", 0), 0u);
}

TEST(Text, LongListsCanBeCutAndSayHowMuchIsMissing)
{
    const Report report = training_run();
    TextStyle style;
    style.rows.most = 1;
    const std::string text = text_of([&](std::ostream& out) { write_leaks(out, report, style); });
    EXPECT_NE(text.find("#1 "), std::string::npos);
    EXPECT_EQ(text.find("#2 "), std::string::npos);
    EXPECT_NE(text.find("... and 1 more call stack, 3.1 MiB\n"), std::string::npos);
}

} // namespace
} // namespace vramscope::report
