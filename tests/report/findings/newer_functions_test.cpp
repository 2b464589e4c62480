// tests/report/findings/newer_functions_test.cpp — functions of memory that we do not know.
#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "report/findings/make_report.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::TempFile;

TEST(NewerFunctions, ThatTheProgramLookedUpAreTold)
{
    const auto notices = [](std::initializer_list<const char*> names, bool more = false) {
        LogBuilder log;
        for (const char* name : names)
            log.info("unknown_entry_point", name);
        if (more)
            log.info("unknown_entry_points.more", "1");
        return report_of(log).notices;
    };
    EXPECT_TRUE(notices({}).empty());
    ASSERT_EQ(notices({"cuMemAllocQuantum"}).size(), 1u);
    EXPECT_EQ(notices({"cuMemAllocQuantum", "cuMemAllocQuantum@14000"}).at(0),
              "the program looked up 1 newer memory function that this version does not know "
              "(cuMemAllocQuantum): memory that comes from it is not counted");
    EXPECT_EQ(notices({"cuB", "cuA@14000", "cuA@15000"}, true).at(0),
              "the program looked up more than 2 newer memory functions that this version does not "
              "know (cuA@14000, cuB): memory that comes from them is not counted");
    EXPECT_NE(notices({"a", "b", "c", "d", "e", "f", "g", "h"})
                  .at(0)
                  .find("(a, b, c, d, e, f and 2 more)"),
              std::string::npos);
}

TEST(NewerFunctions, OfAllProcessesAreUnited)
{
    const TempFile first(
        LogBuilder().info("unknown_entry_point", "cuB").info("unknown_entry_point", "cuA").build());
    const TempFile second(LogBuilder()
                              .info("unknown_entry_point", "cuB")
                              .info("unknown_entry_point", "cuC@14000")
                              .build());
    const Report report = make_report({first.path(), second.path()});
    EXPECT_EQ(report.coverage.unknown_entry_points,
              (std::vector<std::string>{"cuA", "cuB", "cuC@14000"}));
    EXPECT_EQ(report.processes[0].coverage.unknown_entry_points,
              (std::vector<std::string>{"cuA", "cuB"}));
}

} // namespace
} // namespace vramscope::report
