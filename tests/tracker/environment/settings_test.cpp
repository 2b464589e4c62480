// tests/tracker/environment/settings_test.cpp — a wrong value: one complaint, and the default.
#include "tracker/environment/settings.hpp"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

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
    EXPECT_EQ(settings.unwinder, vramscope::capture::Unwinder::libunwind);
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
    EXPECT_EQ(settings.unwinder, vramscope::capture::Unwinder::glibc);
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
    EXPECT_EQ(settings.unwinder, vramscope::capture::Unwinder::libunwind);
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

TEST(Settings, OfThePoolAreTheDefaultsWithoutAnEnvironment)
{
    const Settings settings = read({});
    EXPECT_FALSE(settings.pool_strict);
    EXPECT_EQ(settings.max_split_bytes, kNoBytes);
    EXPECT_EQ(settings.roundup_power2_divisions, Divisions::Value{});
    EXPECT_EQ(settings.garbage_collection_threshold, 0);
    EXPECT_EQ(settings.memory_fraction, 0);
    EXPECT_EQ(settings.limit_bytes, kNoBytes);
    EXPECT_EQ(settings.max_cached_bytes, kPeakBytes);
    EXPECT_EQ(settings.poison, -1);
    EXPECT_FALSE(settings.guard);
    EXPECT_STREQ(settings.without_effect, "");
    EXPECT_EQ(settings.pool_knobs[0], '\0');
}

TEST(Settings, OfThePoolAreTakenFromTheEnvironment)
{
    const Settings settings = read({{"VRAMSCOPE_POOL", "split"},
                                    {"VRAMSCOPE_POOL_SYNC", "strict"},
                                    {"VRAMSCOPE_MAX_SPLIT_SIZE_MB", "20"},
                                    {"VRAMSCOPE_ROUNDUP_POWER2_DIVISIONS", "4"},
                                    {"VRAMSCOPE_GARBAGE_COLLECTION_THRESHOLD", "0.75"},
                                    {"VRAMSCOPE_PER_PROCESS_MEMORY_FRACTION", "0.5"},
                                    {"VRAMSCOPE_LIMIT", "8GiB"},
                                    {"VRAMSCOPE_MAX_CACHED", "512MiB"},
                                    {"VRAMSCOPE_POISON", "0xA5"},
                                    {"VRAMSCOPE_GUARD", "on"}});
    EXPECT_EQ(settings.pool_mode, PoolMode::split);
    EXPECT_TRUE(settings.pool_strict);
    EXPECT_EQ(settings.max_split_bytes, 20ull << 20);
    EXPECT_EQ(settings.roundup_power2_divisions[15], 4);
    EXPECT_DOUBLE_EQ(settings.garbage_collection_threshold, 0.75);
    EXPECT_DOUBLE_EQ(settings.memory_fraction, 0.5);
    EXPECT_EQ(settings.limit_bytes, 8ull << 30);
    EXPECT_EQ(settings.max_cached_bytes, 512ull << 20);
    EXPECT_EQ(settings.poison, 0xA5);
    EXPECT_TRUE(settings.guard);
    EXPECT_STREQ(settings.complaint, "");
    EXPECT_STREQ(settings.without_effect, "");
}

TEST(Settings, ComplainOfWhatEachSettingOfThePoolCannotBe)
{
    const std::pair<const char*, const char*> wrong[] = {
        {"VRAMSCOPE_POOL", "cached"},
        {"VRAMSCOPE_POOL_SYNC", "eager"},
        {"VRAMSCOPE_MAX_SPLIT_SIZE_MB", "19"},
        {"VRAMSCOPE_ROUNDUP_POWER2_DIVISIONS", "3"},
        {"VRAMSCOPE_GARBAGE_COLLECTION_THRESHOLD", "1"},
        {"VRAMSCOPE_PER_PROCESS_MEMORY_FRACTION", "1.5"},
        {"VRAMSCOPE_LIMIT", "8"},
        {"VRAMSCOPE_MAX_CACHED", "many"},
        {"VRAMSCOPE_POISON", "165"},
        {"VRAMSCOPE_GUARD", "yes"},
    };
    for (const auto& [name, value] : wrong) {
        SCOPED_TRACE(name);
        std::map<std::string, std::string> values{{"VRAMSCOPE_POOL", "split"}};
        values[name] = value;
        const Settings settings = read(values);
        expect_complaint(settings, name, value);
        EXPECT_STREQ(settings.without_effect, ""); // it was not taken: nothing was set in vain
        EXPECT_EQ(settings.pool_knobs[0], '\0');
        const Settings fallback = read({});
        EXPECT_EQ(settings.limit_bytes, fallback.limit_bytes);
        EXPECT_EQ(settings.memory_fraction, fallback.memory_fraction);
        EXPECT_EQ(settings.garbage_collection_threshold, fallback.garbage_collection_threshold);
        EXPECT_EQ(settings.max_split_bytes, fallback.max_split_bytes);
        EXPECT_EQ(settings.roundup_power2_divisions, fallback.roundup_power2_divisions);
        EXPECT_EQ(settings.max_cached_bytes, fallback.max_cached_bytes);
        EXPECT_EQ(settings.poison, fallback.poison);
        EXPECT_EQ(settings.guard, fallback.guard);
        EXPECT_EQ(settings.pool_strict, fallback.pool_strict);
        EXPECT_EQ(settings.pool_mode,
                  std::string(name) == "VRAMSCOPE_POOL" ? fallback.pool_mode : PoolMode::split);
    }
}

TEST(Settings, PoisonAndGuardMakeThePoolStrict)
{
    EXPECT_FALSE(read({{"VRAMSCOPE_POOL", "cache"}}).pool_strict);
    EXPECT_TRUE(read({{"VRAMSCOPE_POOL", "cache"}, {"VRAMSCOPE_POISON", "0x00"}}).pool_strict);
    EXPECT_TRUE(read({{"VRAMSCOPE_POOL", "split"}, {"VRAMSCOPE_GUARD", "on"}}).pool_strict);
}

TEST(Settings, TellWhatIsSetInVain)
{
    const Settings off = read({{"VRAMSCOPE_POOL", "off"},
                               {"VRAMSCOPE_POISON", "0xA5"},
                               {"VRAMSCOPE_LIMIT", "8GiB"},
                               {"VRAMSCOPE_MAX_CACHED", "0"},
                               {"VRAMSCOPE_VERIFY", "off"}});
    EXPECT_STREQ(off.without_effect,
                 "VRAMSCOPE_MAX_CACHED, VRAMSCOPE_POISON: no effect with VRAMSCOPE_POOL=off");
    EXPECT_STREQ(off.pool_knobs, "limit=8GiB");
    const Settings cache = read({{"VRAMSCOPE_POOL", "cache"},
                                 {"VRAMSCOPE_MAX_SPLIT_SIZE_MB", "64"},
                                 {"VRAMSCOPE_GUARD", "on"},
                                 {"VRAMSCOPE_LIMIT", "8GiB"}});
    EXPECT_STREQ(
        cache.without_effect,
        "VRAMSCOPE_MAX_SPLIT_SIZE_MB, VRAMSCOPE_GUARD: no effect with VRAMSCOPE_POOL=cache");
    EXPECT_FALSE(cache.guard);
    EXPECT_FALSE(cache.pool_strict);
}

TEST(Settings, KeepTheKnobsOfThePoolAsTheyWereSet)
{
    const Settings settings = read({{"VRAMSCOPE_POOL", "cache"},
                                    {"VRAMSCOPE_POOL_SYNC", "strict"},
                                    {"VRAMSCOPE_GUARD", "on"},
                                    {"VRAMSCOPE_MAX_CACHED", "2GiB"},
                                    {"VRAMSCOPE_LIMIT", "8G"}});
    const char expected[] = "limit=8G\0max_cached=2GiB\0";
    EXPECT_EQ(std::string(settings.pool_knobs, sizeof expected),
              std::string(expected, sizeof expected));
}

TEST(Settings, KeepNoKnobThatThereIsNoRoomFor)
{
    const std::string longest = std::string(kSettingBytes - 1, '0');
    const Settings settings = read({{"VRAMSCOPE_POOL", "cache"},
                                    {"VRAMSCOPE_MAX_CACHED", longest},
                                    {"VRAMSCOPE_POISON", "0xA5"}});
    EXPECT_EQ(settings.max_cached_bytes, 0u);
    EXPECT_STREQ(settings.pool_knobs, "poison=0xA5");
}

TEST(Settings, AreCheckedOneByOne)
{
    char complaint[kComplaintBytes];
    check_setting("VRAMSCOPE_POOL", "split", complaint);
    EXPECT_STREQ(complaint, "");
    check_setting("VRAMSCOPE_POOL", "both", complaint);
    EXPECT_STREQ(complaint, "VRAMSCOPE_POOL=both is not valid: use cache, split or off");
}

TEST(Settings, ComplainOnlyOfTheFirstWrongValue)
{
    const Settings settings = read({{"VRAMSCOPE_STACK_DEPTH", "many"},
                                    {"VRAMSCOPE_UNWINDER", "magic"},
                                    {"VRAMSCOPE_VERIFY", "maybe"}});
    expect_complaint(settings, "VRAMSCOPE_STACK_DEPTH", "many");
    EXPECT_EQ(std::string(settings.complaint).find("magic"), std::string::npos);
    EXPECT_EQ(settings.unwinder, vramscope::capture::Unwinder::libunwind);
    EXPECT_TRUE(settings.verify_stacks);
}

namespace {

constexpr const char* kDepth = "VRAMSCOPE_STACK_DEPTH";

// The depth of a process that starts with `variables` and changes its environment to `later` before
// settings() is asked; it ends with it.
[[noreturn]] void end_with_depth(std::vector<std::string> variables, const char* later)
{
    std::vector<char*> start;
    for (std::string& variable : variables)
        start.push_back(variable.data());
    start.push_back(nullptr);
    keep_settings_of(start.data());
    ::setenv(kDepth, later, 1);
    std::_Exit(static_cast<int>(settings().max_frames));
}

} // namespace

TEST(SettingsOfTheStart, StayWhenTheEnvironmentChanges)
{
    EXPECT_EXIT(end_with_depth({"PATH=/", "VRAMSCOPE_STACK_DEPTHS=5", "VRAMSCOPE_STACK_DEPTH=7",
                                "VRAMSCOPE_STACK_DEPTH=8"},
                               "9"),
                testing::ExitedWithCode(7), "");
    EXPECT_EXIT(end_with_depth({}, "9"), testing::ExitedWithCode(64), "");
}

TEST(SettingsOfTheStart, StayWhenTheyAreTooLongToBeCopied)
{
    ::setenv(kDepth, "7", 1); // as the process was started
    EXPECT_EXIT(end_with_depth({"VRAMSCOPE_OTHER=" + std::string(5000, 'x')}, "9"),
                testing::ExitedWithCode(7), "");
    ::unsetenv(kDepth);
}

TEST(SettingsOfTheStart, FillTheRoomForThem)
{
    const auto padded = [](std::size_t bytes) { // with its end
        return "VRAMSCOPE_OTHER=" + std::string(bytes - sizeof "VRAMSCOPE_OTHER=", 'x');
    };
    ::setenv(kDepth, "7", 1);
    const std::string depth = "VRAMSCOPE_STACK_DEPTH=8";
    const std::size_t room = 4096 - 1 - (depth.size() + 1);
    EXPECT_EXIT(end_with_depth({padded(room), depth}, "9"), testing::ExitedWithCode(8), "");
    EXPECT_EXIT(end_with_depth({padded(room + 1), depth}, "9"), testing::ExitedWithCode(7), "");
    ::unsetenv(kDepth);
}
