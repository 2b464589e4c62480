// tests/report/text/leaks_test.cpp — what holds a leak that several processes have.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/model/report.hpp"
#include "report/text/sections.hpp"
#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

ReachGroup group(Reached verdict, std::uint64_t bytes, const std::string& holder)
{
    ReachGroup found;
    found.verdict = verdict;
    found.sum = {bytes, 1};
    found.chain = {holder};
    return found;
}

TEST(LeaksText, OfSeveralProcessesWhatHoldsTheirBlocksIsSummedUp)
{
    const test::LogBuilder log = clean().alloc(0x2000, 1 << 20, 2);
    Report report = test::report_of_all({rank(log, 0, "3"), rank(log, 1, "3"), rank(log, 2, "3")});
    ASSERT_EQ(report.leaks.size(), 3u);
    report.leaks[0].reach = {group(Reached::held, 1 << 20, "variable `kept` of train")};
    report.leaks[1].reach = {group(Reached::held, 1 << 20, "variable `kept` of train")};
    report.leaks[2].reach = {group(Reached::held, 1 << 20, "variable `other` of train")};
    std::ostringstream out;
    write_leaks(out, report);
    EXPECT_NE(out.str().find("held: 2 MiB in 2 blocks, by variable `kept` of train"),
              std::string::npos)
        << out.str();
    EXPECT_NE(out.str().find("held: 1 MiB in 1 block, by variable `other` of train"),
              std::string::npos)
        << out.str();
}

TEST(LeaksText, PartsAreOfTheProcessesThatAreTold)
{
    Report report;
    report.processes.resize(2);
    for (const std::size_t process : {0u, 1u}) {
        Leak leak;
        leak.leak_class = LeakClass::growing;
        leak.process = process;
        leak.bytes = (1 + process) << 20;
        report.leaks.push_back(leak);
        report.processes[process].totals.leaked_bytes = leak.bytes + 1024;
    }
    EXPECT_EQ(leaked_parts(report, {0}), "1 MiB growing, 1 KiB other");
    EXPECT_EQ(leaked_parts(report, {0, 1}), "3 MiB growing, 2 KiB other");
}

TEST(LeaksText, SuppressedObjectsAreCounted)
{
    Report report;
    ObjectRow events;
    events.blocks = 60;
    events.known = true;
    events.leak_class = LeakClass::growing;
    report.objects = {events};
    report.suppressions = {{.rule = {}, .rows = 1, .objects = 60}};
    EXPECT_EQ(suppressed(report), "60 objects, by 1 rule");
    report.totals.suppressed_blocks = 1;
    report.totals.suppressed_bytes = 65536;
    EXPECT_EQ(suppressed(report), "64 KiB in 1 block and 60 objects, by 1 rule");
    report.objects[0].known = false;
    EXPECT_EQ(suppressed(report), "64 KiB in 1 block, by 1 rule");
}

} // namespace
} // namespace vramscope::report
