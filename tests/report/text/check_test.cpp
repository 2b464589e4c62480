// tests/report/text/check_test.cpp — what a person reads of a check.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::report_of_all;
using test::operator""_KiB;
using test::operator""_GiB;

std::string text_of(const Report& report, const Budget& budget)
{
    std::ostringstream out;
    write_check(out, check(report, budget), report);
    return out.str();
}

TEST(CheckText, TheNextStepKnowsTheSuppressionsAndTheFirstLogs)
{
    Report report = report_of_all(std::vector<LogBuilder>(5, leaking()));
    for (std::size_t at = 0; at < report.processes.size(); ++at)
        report.processes[at].log = "rank" + std::to_string(at) + ".vsl";
    for (const char* const pattern : {"one", "two"})
        report.suppressions.push_back({.rule = {pattern, "my known.txt", 1, {}}});
    report.suppressions.push_back({.rule = {"cublas", {}, 0, "handles"}});
    const std::string text = text_of(report, {});
    EXPECT_NE(text.find("\nNext: vramscope leaks --suppressions 'my known.txt' rank0.vsl "
                        "rank1.vsl rank2.vsl rank3.vsl ...\n"),
              std::string::npos)
        << text;
}

TEST(CheckText, LeadsWithWhatFailedAndEndsWithTheNextStep)
{
    Budget budget;
    budget.max_peak = 1_GiB;
    Report report = report_of(leaking());
    report.processes[0].log = "train.vsl";
    EXPECT_EQ(text_of(report, budget), R"(FAILED: leaked 3 MiB, at most 0 B
  found: Leaks: 3 MiB in 2 blocks were not freed, from 2 call stacks
  leaked                    3 MiB  at most 0 B             FAILED
           2 MiB in 1 block     cuMemAlloc  train+0x3000
           1 MiB in 1 block     cuMemAlloc  train+0x2000
  peak allocated            8 MiB  at most 1 GiB           ok
Note: /gone/train: no such file; its frames are shown as module+offset; for a log from a container
      or another machine, --sysroot DIR and --path-map OLD=NEW say where its files are
Next: vramscope leaks train.vsl
)");
}

TEST(CheckText, NamesRanksAndTellsDoubtsApart)
{
    Report report = report_of_all({rank(leaking(), 0, "4"), rank(killed(clean()), 1, "4")});
    const std::string text = text_of(report, {});
    EXPECT_NE(text.find("FAILED: leaked 3 MiB, at most 0 B in rank 0\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("besides, process 101: the program "), std::string::npos) << text;
    EXPECT_NE(text.find("besides, there is no log of ranks 2, 3: no CUDA call was made there"),
              std::string::npos)
        << text;
}

TEST(CheckText, OfARunEndsWithTheVerdict)
{
    std::ostringstream out;
    const Report report = report_of(clean());
    write_check_summary(out, check(report, {}), report);
    EXPECT_EQ(out.str(),
              "vramscope:   leaked                      0 B  at most 0 B             ok\n"
              "vramscope: check PASSED: leaked 0 B, at most 0 B\n");
}

TEST(CheckText, IsShortWhateverLeaks)
{
    LogBuilder log = program();
    for (std::uint64_t id = 1; id <= 9; ++id)
        log.alloc(0x1000 * id, 1_KiB, id).failed_free(0x1000 * id + 8, id);
    Budget budget = fail_on({Finding::leaks, Finding::out_of_memory, Finding::misuse,
                             Finding::damage, Finding::failed_calls});
    const std::string text = text_of(report_of(log), budget);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 17) << text;
}

} // namespace
} // namespace vramscope::report
