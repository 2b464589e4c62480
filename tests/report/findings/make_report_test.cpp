// tests/report/findings/make_report_test.cpp — the verdict and its grounds, of one or more logs.
#include "report/findings/make_report.hpp"

#include <fstream>
#include <sstream>
#include <unistd.h>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/judge/judge.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::LogBuilder;
using test::report_of;
using test::TempFile;
using test::operator""_MiB;

LogBuilder leaking()
{
    return LogBuilder().alloc(0x1000, 1_MiB, 1).alloc(0x2000, 2_MiB, 2).free(0x2000);
}
LogBuilder clean()
{
    return LogBuilder().alloc(0x1000, 1_MiB, 1).free(0x1000);
}

bool has_reason(const Report& report, const std::string& words)
{
    for (const std::string& reason : report.reasons) {
        if (reason.find(words) != std::string::npos)
            return true;
    }
    return false;
}

TEST(Report, IsCleanWhenEverythingWasFreed)
{
    const Report report = report_of(clean());
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_TRUE(report.reasons.empty());
    EXPECT_EQ(report.totals.allocations, 1u);
    EXPECT_EQ(report.totals.frees, 1u);
}

TEST(Report, OfAReadingThatIsInterruptedIsWhatWasReadSoFar)
{
    LogBuilder log;
    for (int i = 0; i < 100'000; ++i)
        log.alloc(0x1000, 1_MiB, 1).free(0x1000).alloc(0x2000, 1_MiB, 1).free(0x2000);
    const TempFile file(log.build());
    int asked = 0;
    Options options;
    options.interrupted = [&asked] { return ++asked == 2; };
    const Report report = make_report({file.path(), file.path()}, options);
    EXPECT_TRUE(report.interrupted);
    EXPECT_EQ(report.processes.size(), 1u) << "the second log is not read";
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_TRUE(has_reason(report, "interrupted after 1"));
    EXPECT_TRUE(has_reason(report, "% of the logs"));
    EXPECT_GT(report.coverage.events, 100'000u);
    EXPECT_LT(report.coverage.events, 200'000u);
    for (const Leak& leak : report.leaks)
        EXPECT_EQ(leak.kind, LeakKind::in_use);
}

TEST(Report, NobodyInterruptsAShortReading)
{
    const TempFile file(clean().build());
    Options options;
    options.interrupted = [] { return true; };
    EXPECT_FALSE(make_report({file.path()}, options).interrupted);
}

TEST(Report, NamesLeaksWithTheirTotals)
{
    const Report report = report_of(leaking());
    EXPECT_EQ(report.verdict, Verdict::leaks);
    EXPECT_EQ(report.totals.leaked_bytes, 1_MiB);
    EXPECT_EQ(report.totals.leaked_blocks, 1u);
    EXPECT_EQ(report.totals.peak_device_bytes, 3_MiB);
    ASSERT_EQ(report.totals.leaked_by_memory.size(), 1u);
    EXPECT_EQ(report.totals.leaked_by_memory[0].memory, format::Memory::device);
    EXPECT_EQ(report.coverage.entry_points_seen,
              (std::vector<std::string>{"cuMemAlloc_v2", "cuMemFree_v2"}));
}

TEST(Report, NamesEveryEntryPointWithAnEventButNotThoseThatFailed)
{
    LogBuilder log = clean();
    log.map(0x7000, 4096, 9).unmap(0x7000, 4096).retain(9).context(1).context_gone(1);
    const std::size_t seen = report_of(log).coverage.entry_points_seen.size();
    EXPECT_EQ(seen, report_of(clean()).coverage.entry_points_seen.size() + 4);
    EXPECT_EQ(report_of(log.failed(2, 4096, "cuMemAllocManaged")).coverage.entry_points_seen.size(),
              seen);
}

TEST(Report, NonZeroExitStatusIsConclusive)
{
    LogBuilder log = leaking();
    log.header().waited = 1;
    log.header().wait_status = 3 << 8;
    EXPECT_EQ(report_of(log).verdict, Verdict::leaks);
}

struct Doubt {
    const char* what;
    const char* reason;
    void (*apply)(LogBuilder&);
};

class ReportInDoubt : public testing::TestWithParam<Doubt> {};

TEST_P(ReportInDoubt, IsNeitherCleanNorLeaksAndSaysWhy)
{
    for (LogBuilder log : {leaking(), clean()}) {
        GetParam().apply(log);
        const Report report = report_of(log);
        EXPECT_EQ(report.verdict, Verdict::inconclusive);
        EXPECT_TRUE(has_reason(report, GetParam().reason))
            << testing::PrintToString(report.reasons);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, ReportInDoubt,
    testing::Values(
        Doubt{"Crash", "signal 11 (SIGSEGV)",
              [](LogBuilder& log) {
                  log.header().waited = 1;
                  log.header().wait_status = 11;
              }},
        Doubt{"UnknownEnd", "unseen",
              [](LogBuilder& log) { log.header().end = format::End::unknown; }},
        Doubt{"LostEvents", "disk full", [](LogBuilder& log) { log.header().lost[0] = 3; }},
        Doubt{"LostForAReasonOfTheFuture", "does not know",
              [](LogBuilder& log) { log.header().lost[7] = 1; }},
        Doubt{"Damage", "damaged",
              [](LogBuilder& log) {
                  log.raw({0, 0, 0});
              }},
        Doubt{"MissedFree", "not seen",
              [](LogBuilder& log) { log.alloc(0x9000, 1).alloc(0x9000, 1).free(0x9000); }}),
    [](const auto& test_case) { return std::string(test_case.param.what); });

TEST(Report, ALivingProgramIsStillRunning)
{
    std::ifstream in("/proc/self/stat");
    std::string stat;
    std::getline(in, stat);
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string field;
    for (int number = 3; number <= 22; ++number)
        fields >> field;
    LogBuilder log = leaking();
    log.header().end = format::End::unknown;
    log.header().pid = static_cast<std::uint32_t>(::getpid());
    log.header().process_start = std::stoull(field);
    Bytes bytes = log.build();
    bytes.resize(bytes.size() - 100); // a file that is still growing is not cut
    const TempFile file(bytes);
    const Report report = make_report({file.path()});
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_TRUE(has_reason(report, "still running")) << testing::PrintToString(report.reasons);
    EXPECT_EQ(report.reasons.size(), 1u);
    EXPECT_EQ(report.leaks.at(0).kind, LeakKind::in_use);
}

TEST(Report, ListsLeaksOfACrashEvenSo)
{
    LogBuilder log = leaking();
    log.header().end = format::End::unknown;
    const Report report = report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].kind, LeakKind::at_crash);
}

TEST(Report, ALogWithoutMemoryCallsProvesNothing)
{
    const Report report = report_of(LogBuilder().info("program", "x").mark("start"));
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_TRUE(has_reason(report, "no CUDA memory call"))
        << testing::PrintToString(report.reasons);
    EXPECT_TRUE(has_reason(report_of(LogBuilder()), "no CUDA memory call"));
}

TEST(Report, MemoryCallsThatAllFailedWereSeen)
{
    const Report failed = report_of(LogBuilder().failed(2, 64_MiB));
    EXPECT_EQ(failed.verdict, Verdict::clean) << testing::PrintToString(failed.reasons);
    EXPECT_EQ(failed.failed_calls.size(), 1u);
    const Report refused = report_of(LogBuilder().failed_free(0x1000));
    EXPECT_EQ(refused.verdict, Verdict::clean) << testing::PrintToString(refused.reasons);
    EXPECT_EQ(check(failed, Budget{}).verdict, Check::Verdict::passed);
}

TEST(Report, CutLogGivesWhatIsThere)
{
    LogBuilder log = leaking();
    log.new_chunk().alloc(0x5000, 4_MiB, 3);
    Bytes bytes = log.build();
    bytes.resize(log.chunk_offset(1));
    const TempFile file(bytes);
    const Report report = make_report({file.path()});
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_TRUE(report.coverage.truncated);
    EXPECT_EQ(report.totals.leaked_bytes, 1_MiB);
}

TEST(Report, WhatIsNotTheProgramsMemoryIsNeitherLeakNorTotal)
{
    LogBuilder log = clean();
    log.alloc(0x1, 8_MiB, 1, "cuMemPoolCreate").alloc(0x2, 8_MiB, 1, "cuGraphInstantiateWithFlags");
    log.alloc(0x3000, 8_MiB, 1, "cuGraphAddMemAllocNode");
    log.alloc(0x4000, 8_MiB, 1, "cuIpcOpenMemHandle_v2").free(0x4000, "cuIpcCloseMemHandle");
    const Report report = report_of(log);
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_TRUE(report.leaks.empty());
    EXPECT_EQ(report.totals.leaked_bytes, 0u);
    EXPECT_EQ(report.totals.allocations, 1u);
}

TEST(Report, AnImportThatWasNeverClosedIsALeakWithoutBytesOfOurs)
{
    const Report report = report_of(clean().alloc(0x5000, 8_MiB, 1, "cuIpcOpenMemHandle_v2"));
    EXPECT_EQ(report.verdict, Verdict::leaks);
    EXPECT_EQ(report.totals.leaked_bytes, 0u);
    EXPECT_EQ(report.totals.unclosed_imports, 1u);
    EXPECT_EQ(report.totals.unclosed_import_bytes, 8_MiB);
    ASSERT_EQ(report.imports.size(), 1u);
    EXPECT_EQ(report.imports[0].kind, LeakKind::unclosed_import);
    EXPECT_EQ(report.imports[0].bytes, 8_MiB);
}

TEST(Report, OwnersGoWithTheirContextOrAreListed)
{
    LogBuilder log = clean();
    log.place({.context = 1}).alloc(0x1, 0, 1, "cuGraphInstantiateWithFlags").context_gone(1);
    log.alloc(0x2, 0, 1, "cuMemPoolCreate");
    const Report report = report_of(log);
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_EQ(report.owners.size(), 1u);
    EXPECT_EQ(report.owners[0].memory, format::Memory::pool);
}

TEST(Report, AFreeInFlightIsNoLeakAndIsTold)
{
    const Report report = report_of(clean().alloc(0x5000, 8_MiB, 1).pending_free(0x5000));
    EXPECT_EQ(report.verdict, Verdict::clean);
    ASSERT_EQ(report.notices.size(), 1u);
    EXPECT_NE(report.notices[0].find("0x5000 (8388608 bytes) was in flight"), std::string::npos);
}

TEST(Report, ACrashInsideAFreeNamesTheFreesBefore)
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/a", "x");
    log.stack(1, {0x401001}).stack(2, {0x402001}).stack(3, {0x403001});
    log.alloc(0x5000, 1_MiB, 1).free(0x5000, "cuMemFree_v2", 2).pending_free(0x5000, 3);
    log.header().waited = 1;
    log.header().wait_status = 11;
    const Report report = report_of(log);
    EXPECT_TRUE(has_reason(report, "it crashed inside cuMemFree of 0x5000, allocated at "
                                   "/gone/a+0x1000, first freed at /gone/a+0x2000"))
        << testing::PrintToString(report.reasons);
}

TEST(Report, DescribesTheProcess)
{
    LogBuilder log = leaking();
    log.info("program", "train").info("command", "./train --steps 3").info("host", "node1");
    log.device(1, 80, "B").device(0, 24, "A");
    log.header().start_real_ns = 1'700'000'000'000'000'000;
    const Report report = report_of(log);
    ASSERT_EQ(report.processes.size(), 1u);
    const Process& process = report.processes[0];
    EXPECT_EQ(process.pid, 4242u);
    EXPECT_EQ(process.program, "train");
    EXPECT_EQ(process.command, "./train --steps 3");
    EXPECT_EQ(process.started, "2023-11-14T22:13:20Z");
    EXPECT_EQ(process.end.kind, ProcessEnd::Kind::exited);
    ASSERT_EQ(process.devices.size(), 2u);
    EXPECT_EQ(process.devices[0].name, "A");
    EXPECT_EQ(process.info_value("host"), "node1");
    EXPECT_EQ(process.info_value("nothing"), "");
}

TEST(Report, JoinsTheLogsOfSeveralProcesses)
{
    LogBuilder one = leaking();
    LogBuilder two = leaking();
    two.alloc(0x7000, 8_MiB, 1);
    two.header().pid = 4243;
    const TempFile first(one.build());
    const TempFile second(two.build());
    const Report report = make_report({first.path(), second.path()});
    EXPECT_EQ(report.verdict, Verdict::leaks);
    ASSERT_EQ(report.processes.size(), 2u);
    EXPECT_EQ(report.totals.leaked_bytes, 10_MiB);
    EXPECT_EQ(report.totals.peak_device_bytes, 9_MiB) << "of the process that had the most";
    ASSERT_EQ(report.leaks.size(), 2u);
    EXPECT_EQ(report.leaks[0].process, 1u);
    EXPECT_EQ(report.leaks[1].process, 0u);
}

TEST(Report, OneCrashedRankMakesTheWholeInconclusiveAndIsNamed)
{
    LogBuilder crashed = leaking();
    crashed.header().end = format::End::unknown;
    crashed.header().pid = 99;
    const TempFile first(clean().build());
    const TempFile second(crashed.build());
    const Report report = make_report({first.path(), second.path()});
    EXPECT_EQ(report.verdict, Verdict::inconclusive);
    EXPECT_TRUE(has_reason(report, "process 99: ")) << testing::PrintToString(report.reasons);
}

TEST(Report, AProcessWithoutMemoryCallsBesideOneWithIsFine)
{
    const TempFile first(clean().build());
    const TempFile second(LogBuilder().mark("idle").build());
    EXPECT_EQ(make_report({first.path(), second.path()}).verdict, Verdict::clean);
}

TEST(Report, ABadFileAmongGoodOnesIsAnError)
{
    const TempFile good(clean().build());
    const TempFile bad(Bytes(100, 'x'));
    EXPECT_THROW(make_report({good.path(), bad.path()}), Error);
}

TEST(Report, ProgressEndsAtOneAndNeverGoesBack)
{
    const TempFile first(leaking().build());
    const TempFile second(leaking().build());
    std::vector<double> seen;
    Options options;
    options.progress = [&](double fraction) { seen.push_back(fraction); };
    make_report({first.path(), second.path()}, options);
    ASSERT_FALSE(seen.empty());
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_DOUBLE_EQ(seen.back(), 1.0);
}

TEST(Report, TellsFailedCallsAndStrayFrees)
{
    const Report report =
        report_of(clean().failed(2, 4096).free(0x77000).alloc(0x100, 8, 0, "cuMemAddressReserve"));
    ASSERT_EQ(report.notices.size(), 2u);
    EXPECT_NE(report.notices[0].find("not seen allocated"), std::string::npos);
    EXPECT_NE(report.notices[1].find("1 address reservation"), std::string::npos);
    ASSERT_EQ(report.failed_calls.size(), 1u);
    EXPECT_EQ(report.failed_calls[0].entry_point, "cuMemAlloc_v2");
    EXPECT_EQ(report.failed_calls[0].result, 2u);
    EXPECT_EQ(report.failed_calls[0].bytes, 4096u);
    EXPECT_EQ(report.verdict, Verdict::clean);
}

} // namespace
} // namespace vramscope::report
