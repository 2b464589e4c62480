// tests/tracker/environment/log_name_test.cpp — what a pattern of a log's name stands for.
#include "tracker/environment/log_name.hpp"

#include <cstdlib>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace vramscope;

namespace {

std::string expanded(const char* pattern, std::size_t capacity = 4096,
                     const char* program = "train")
{
    std::string out(capacity, '\0');
    if (!log::expand_log_name(pattern, {program, 4711}, out.data(), capacity))
        return "refused";
    return out.c_str();
}

} // namespace

TEST(LogName, FillsInProgramProcessHostAndTime)
{
    EXPECT_EQ(expanded("%e"), "train");
    EXPECT_EQ(expanded("a.%p.vsl"), "a.4711.vsl");
    char host[256] = {};
    ASSERT_EQ(::gethostname(host, sizeof host), 0);
    EXPECT_EQ(expanded("%h"), host);
    EXPECT_GT(std::stoll(expanded("%t")), 1'700'000'000);
    EXPECT_EQ(expanded("100%%"), "100%");
    EXPECT_EQ(expanded("/plain/name"), "/plain/name");
}

TEST(LogName, HasTheRankAndWhatVariablesHold)
{
    for (const char* mine : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                             "SLURM_PROCID", "MV2_COMM_WORLD_RANK", "LOG_NAME_TEST"})
        ::unsetenv(mine); // the launcher that runs this test may have set it
    EXPECT_EQ(expanded("%r.%q{LOG_NAME_TEST}"), "none.none");
    ::setenv("SLURM_PROCID", "417", 1);
    ::setenv("LOG_NAME_TEST", "a b", 1);
    EXPECT_EQ(expanded("r%r.%q{LOG_NAME_TEST}.vsl"), "r417.a b.vsl");
    ::setenv("LOG_NAME_TEST", "", 1);
    EXPECT_EQ(expanded("%q{LOG_NAME_TEST}"), "none");
    for (const auto& [value, name] : {std::pair("../x", ".._x"), {"..", "__"}, {".", "_"}}) {
        ::setenv("LOG_NAME_TEST", value, 1);
        EXPECT_EQ(expanded("/logs/%q{LOG_NAME_TEST}"), std::string("/logs/") + name);
    }
    ::unsetenv("SLURM_PROCID");
    ::unsetenv("LOG_NAME_TEST");
}

TEST(LogName, RefusesWhatItDoesNotKnow)
{
    for (const char* wrong : {"a%", "a% p", "a%z", "", "%q", "%q{", "%q{}", "%q{A", "%qA}"})
        EXPECT_EQ(expanded(wrong), "refused") << wrong;
    EXPECT_EQ(expanded(("%q{" + std::string(500, 'A') + "}").c_str()), "refused");
}

TEST(LogName, RefusesANameThatDoesNotFit)
{
    EXPECT_EQ(expanded("abc", 4), "abc");
    EXPECT_EQ(expanded("abcd", 4), "refused");
    EXPECT_EQ(expanded("%p", 2), "refused");
    EXPECT_EQ(expanded("%%%%", 2), "refused");
}

TEST(LogName, LetsNoProgramNameLeadElsewhere)
{
    EXPECT_EQ(expanded("/logs/%e", 4096, "../../etc/passwd\n"), "/logs/.._.._etc_passwd_");
}
