// tests/tracker/settings_test.cpp — a wrong value costs one complaint and gives the default.
#include "tracker/log/settings.hpp"

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

using namespace vramscope::log;

namespace {

std::map<std::string, std::string> environment;

Settings read(std::map<std::string, std::string> values)
{
    environment = std::move(values);
    auto result = std::make_unique<Settings>();
    read_settings(*result, [](const char* name) -> const char* {
        const auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
    });
    return *result;
}

void expect_complaint(const Settings& settings, const std::string& name, const std::string& value)
{
    const std::string complaint = settings.complaint;
    EXPECT_NE(complaint.find(name + "=" + value), complaint.npos) << complaint;
    EXPECT_NE(complaint.find("use "), complaint.npos) << complaint;
    EXPECT_EQ(complaint.find('\n'), complaint.npos);
}

} // namespace

TEST(Settings, AreTheDefaultsWithoutAnEnvironment)
{
    const Settings settings = read({});
    EXPECT_STREQ(settings.log, "vramscope.%e.%p.vsl");
    EXPECT_STREQ(settings.unwinder, "libunwind");
    EXPECT_EQ(settings.max_frames, 64u);
    EXPECT_TRUE(settings.verify_stacks);
    EXPECT_TRUE(settings.stacks_of_frees);
    EXPECT_STREQ(settings.run_file, "");
    EXPECT_STREQ(settings.complaint, "");
}

TEST(Settings, AreTheDefaultsForEmptyValues)
{
    const Settings settings = read({{"VRAMSCOPE_LOG", ""},
                                    {"VRAMSCOPE_STACK_DEPTH", ""},
                                    {"VRAMSCOPE_UNWINDER", ""},
                                    {"VRAMSCOPE_VERIFY", ""}});
    EXPECT_STREQ(settings.log, "vramscope.%e.%p.vsl");
    EXPECT_EQ(settings.max_frames, 64u);
    EXPECT_STREQ(settings.complaint, "");
}

TEST(Settings, AreTakenFromTheEnvironment)
{
    const Settings settings = read({{"VRAMSCOPE_LOG", "/tmp/%p.vsl"},
                                    {"VRAMSCOPE_STACK_DEPTH", "256"},
                                    {"VRAMSCOPE_UNWINDER", "glibc"},
                                    {"VRAMSCOPE_VERIFY", "off"},
                                    {"VRAMSCOPE_FREE_STACKS", "off"},
                                    {"VRAMSCOPE_RUN", "/tmp/run"}});
    EXPECT_STREQ(settings.log, "/tmp/%p.vsl");
    EXPECT_EQ(settings.max_frames, 256u);
    EXPECT_STREQ(settings.unwinder, "glibc");
    EXPECT_FALSE(settings.verify_stacks);
    EXPECT_FALSE(settings.stacks_of_frees);
    EXPECT_STREQ(settings.run_file, "/tmp/run");
    EXPECT_STREQ(settings.complaint, "");
}

TEST(Settings, ComplainOfADepthThatIsNoNumberFrom1To256)
{
    for (const char* value : {"0", "257", "-1", "ten", "64k", "6 4", "99999999999999999999", "0x10",
                              ""
                              " "}) {
        SCOPED_TRACE(value);
        const Settings settings = read({{"VRAMSCOPE_STACK_DEPTH", value}});
        EXPECT_EQ(settings.max_frames, 64u);
        expect_complaint(settings, "VRAMSCOPE_STACK_DEPTH", value);
    }
}

TEST(Settings, ComplainOfAnUnknownUnwinder)
{
    const Settings settings = read({{"VRAMSCOPE_UNWINDER", "LIBUNWIND"}});
    EXPECT_STREQ(settings.unwinder, "libunwind");
    expect_complaint(settings, "VRAMSCOPE_UNWINDER", "LIBUNWIND");
}

TEST(Settings, ComplainOfAnUnknownVerify)
{
    const Settings settings = read({{"VRAMSCOPE_VERIFY", "no"}});
    EXPECT_TRUE(settings.verify_stacks);
    expect_complaint(settings, "VRAMSCOPE_VERIFY", "no");
}

TEST(Settings, ComplainOfAnUnknownFreeStacks)
{
    const Settings settings = read({{"VRAMSCOPE_FREE_STACKS", "0"}});
    EXPECT_TRUE(settings.stacks_of_frees);
    expect_complaint(settings, "VRAMSCOPE_FREE_STACKS", "0");
}

TEST(Settings, ComplainOfAValueThatIsTooLongAndUseNothingOfIt)
{
    const Settings settings = read({{"VRAMSCOPE_LOG", "/tmp/" + std::string(5000, 'x')}});
    EXPECT_STREQ(settings.log, "vramscope.%e.%p.vsl");
    expect_complaint(settings, "VRAMSCOPE_LOG", "/tmp/xxxx");
}

TEST(Settings, TakeTheLongestValueWhole)
{
    const std::string longest(kSettingBytes - 1, 'x');
    EXPECT_EQ(read({{"VRAMSCOPE_LOG", longest}}).log, longest);
}

TEST(Settings, ComplainOnlyOfTheFirstWrongValue)
{
    const Settings settings = read({{"VRAMSCOPE_STACK_DEPTH", "many"},
                                    {"VRAMSCOPE_UNWINDER", "magic"},
                                    {"VRAMSCOPE_VERIFY", "maybe"}});
    expect_complaint(settings, "VRAMSCOPE_STACK_DEPTH", "many");
    EXPECT_EQ(std::string(settings.complaint).find("magic"), std::string::npos);
    EXPECT_STREQ(settings.unwinder, "libunwind");
    EXPECT_TRUE(settings.verify_stacks);
}
