// tests/report/replay/marks_test.cpp — named moments: which are kept, and how a report lists them.
#include "report/replay/marks.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;

std::string text_of(const Report& report)
{
    std::ostringstream out;
    write_report(out, report);
    return out.str();
}

LogBuilder marked(std::uint64_t count)
{
    LogBuilder log;
    log.thread_name(4242, "train").at(2'000'000);
    for (std::uint64_t at = 0; at < count; ++at)
        log.mark("step " + std::to_string(at));
    return log;
}

TEST(Marks, OfAllThreadsComeInOrderOfTime)
{
    LogBuilder log = marked(1);
    log.thread(1).thread_name(0, "vramscope mark").at(1'500'000).mark("outside");
    const Process process = report_of(log).processes.at(0);
    ASSERT_EQ(process.marks.size(), 2u);
    EXPECT_EQ(process.marks[0].name, "outside");
    EXPECT_EQ(process.marks[0].ns, 500'000u);
    EXPECT_EQ(process.marks[0].tid, 0u);
    EXPECT_EQ(process.marks[1].name, "step 0");
    EXPECT_EQ(process.marks[1].tid, 4242u);
}

TEST(Marks, AreCountedWhenTheyAreTooManyToKeep)
{
    const Process process = report_of(marked(kMostMarks + 5)).processes.at(0);
    EXPECT_EQ(process.marks.size(), kMostMarks);
    EXPECT_EQ(process.mark_count, kMostMarks + 5);
    EXPECT_EQ(process.marks.back().name, "step 999");
}

TEST(Marks, AreListedWithTheirTimes)
{
    LogBuilder log = marked(1);
    log.thread(1).thread_name(0, "vramscope mark").at(1'235'000'000).mark("epoch \x1b[2J");
    const std::string text = text_of(report_of(log));
    EXPECT_NE(text.find("\nMarks          1.0 ms  step 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\n              1.234 s  epoch \\x1b[2J (vramscope mark)\n"),
              std::string::npos)
        << text;
}

TEST(Marks, ALongListIsCutAndSaysWhereTheRestIs)
{
    const std::string some = text_of(report_of(marked(21)));
    EXPECT_NE(some.find("step 19"), std::string::npos);
    EXPECT_EQ(some.find("step 20"), std::string::npos);
    EXPECT_NE(some.find("... and 1 more mark; --json has all"), std::string::npos) << some;
    const std::string many = text_of(report_of(marked(kMostMarks + 1)));
    EXPECT_NE(many.find("... and 981 more marks; --json has the first 1,000"), std::string::npos)
        << many;
}

} // namespace
} // namespace vramscope::report
