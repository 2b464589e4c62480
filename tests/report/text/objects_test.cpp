// tests/report/text/objects_test.cpp — what is said where a log has no objects.
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

std::string objects_in(const test::LogBuilder& log)
{
    std::ostringstream out;
    write_objects(out, test::report_of(log), {});
    return out.str();
}

TEST(ObjectsText, NoneWasMadeIsSaidWhereTheyAreRecordedAlone)
{
    EXPECT_NE(objects_in(test::program_with_stacks().info("recorded", "contexts objects"))
                  .find("none was made"),
              std::string::npos);
    const std::string older = objects_in(test::program_with_stacks());
    EXPECT_EQ(older.find("none was made"), std::string::npos) << older;
    EXPECT_NE(older.find("Not recorded"), std::string::npos) << older;
}

} // namespace
} // namespace vramscope::report
