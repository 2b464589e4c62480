// tests/report/rules/read_rules_test.cpp — files of rules, and what is wrong in them, with its place.
#include "report/rules/read_rules.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "tests/support/log_builder.hpp"

namespace vramscope::report {
namespace {

using test::Bytes;
using test::TempFile;

Rules rules_of(const std::string& text)
{
    const TempFile file(Bytes(text.begin(), text.end()));
    Rules rules;
    add_rules_file(rules, file.path());
    return rules;
}

// "3:9" of the message, and that it has none of the file's words.
std::string place_of_error(const std::string& text)
{
    const TempFile file(Bytes(text.begin(), text.end()));
    Rules rules;
    try {
        add_rules_file(rules, file.path());
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::usage);
        std::string what = error.what();
        EXPECT_EQ(what.find("secret"), what.npos) << what;
        EXPECT_EQ(what.find('\n'), what.npos) << what;
        what.erase(0, file.path().string().size() + 1);
        return what.substr(0, what.find(':', what.find(':') + 1));
    }
    return "accepted";
}

TEST(ReadRules, EachConditionIsRead)
{
    const Rules rules = rules_of(
        "# a comment\n"
        "\n"
        "owner \"KV cache\" stack /KVCache::|a\\/b/ or file */cache.py # behind a line\n"
        "steady: forbid driver-alloc in range \"step *\" after first 3 of \"step *\"\r\n"
        "  captured: forbid alloc in capture\n"
        "kv:\tlimit peak 1.5GiB owner \"KV cache\" device 1 not kind pinned thread worker*\n"
        "rest: limit live 0 owner other after mark warm until mark done not module lib*.so\n"
        "one: limit count-live 1 of context");
    ASSERT_EQ(rules.owners.size(), 1u);
    EXPECT_EQ(rules.owners[0].any_of.size(), 2u);
    ASSERT_EQ(rules.rules.size(), 5u);
    EXPECT_EQ(rules.rules[0].forbidden, RuleEvent::driver_alloc);
    EXPECT_EQ(rules.rules[0].all_of[0].text, "step *");
    EXPECT_EQ(rules.rules[0].all_of[1].number, 3u);
    EXPECT_EQ(rules.rules[2].limit, (std::uint64_t{3} << 30) / 2);
    EXPECT_TRUE(rules.rules[2].all_of[2].negated);
    EXPECT_EQ(rules.rules[2].all_of[2].memory, format::Memory::pinned);
    EXPECT_EQ(rules.rules[3].all_of.size(), 4u);
    EXPECT_EQ(rules.rules[4].counted, format::Memory::context);
}

TEST(ReadRules, AMistakeHasItsLineAndColumnAndNoWordOfTheFile)
{
    const std::vector<std::pair<std::string, std::string>> mistakes{
        {"root:secret:0:0", "1:6"},
        {"secret words", "1:1"},
        {"\nrule: forbid secret", "2:14"},
        {"rule: secret", "1:7"},
        {"rule: forbid alloc secret", "1:20"},
        {"rule: forbid alloc in secret", "1:20"},
        {"rule: forbid alloc in range", "1:28"},
        {"rule: forbid alloc in range \"secret", "1:29"},
        {"rule: forbid alloc after first secret of a", "1:32"},
        {"rule: forbid alloc after first 3 a", "1:34"},
        {"rule: forbid alloc stack secret", "1:26"},
        {"rule: forbid alloc stack /secret(/", "1:26"},
        {"rule: forbid alloc stack /(a)\\1secret/", "1:26"},
        {"rule: forbid alloc stack //", "1:26"},
        {"rule: forbid alloc kind secret", "1:25"},
        {"rule: forbid alloc device -1", "1:27"},
        {"rule: forbid alloc kind pinned kind device", "1:32"},
        {"rule: forbid alloc kind pinned in capture not kind pinned", "1:43"},
        {"rule: forbid alloc not kind pinned kind pinned", "1:36"},
        {"rule: forbid alloc device 0 device 1", "1:29"},
        {"rule: forbid stream kind device", "1:21"},
        {"rule: forbid graph not kind graph_exec", "1:20"},
        {"rule: limit count-live 1 of pool kind async", "1:34"},
        {"rule: forbid alloc owner \"secret\"", "1:26"},
        {"rule: forbid alloc not in capture", "1:20"},
        {"rule: limit secret 1", "1:13"},
        {"rule: limit peak secret", "1:18"},
        {"rule: limit peak 99999PiB", "1:18"},
        {"rule: limit peak 1 of context", "1:23"},
        {"rule: limit count-live 1 of secret", "1:29"},
        {"a: forbid alloc\na: forbid free", "2:1"},
        {"owner other kind device\na: forbid free", "1:7"},
        {"owner a in range secret\na: forbid free", "1:9"},
        {"owner a kind device secret\na: forbid free", "1:21"},
    };
    for (const auto& [text, place] : mistakes)
        EXPECT_EQ(place_of_error(text), place) << text;
    EXPECT_EQ(place_of_error(" # nothing\n"), " there is no rule in it");
    EXPECT_EQ(place_of_error("a: forbid free"), "accepted");
}

TEST(ReadRules, HowMuchThereMayBeIsBounded)
{
    std::string many;
    for (std::size_t rule = 0; rule < kMostRules; ++rule)
        many += "r" + std::to_string(rule) + ": forbid free\n";
    EXPECT_EQ(rules_of(many).rules.size(), kMostRules);
    EXPECT_EQ(place_of_error(many + "one: forbid free"), "65:1");
    std::string long_rule = "a: forbid free";
    for (std::size_t condition = 0; condition <= kMostConditions; ++condition)
        long_rule += " in capture";
    EXPECT_EQ(place_of_error(long_rule), "1:192");
    EXPECT_EQ(place_of_error("a: forbid free stack /" + std::string(300, 'a') + "/"), "1:22");
    EXPECT_EQ(place_of_error("a: forbid free stack /" + std::string(9, '(') + "a{999}" +
                             "){999}){999}){999}){999}){999}){999}){999}){999}){999}/"),
              "1:22");
}

// Out of words that have a meaning, and of what has none.
TEST(ReadRules, WhateverAFileHoldsIsRulesOrAMistakeWithItsPlace)
{
    const std::vector<std::string> words{"owner",
                                         "a:",
                                         "b:",
                                         "forbid",
                                         "limit",
                                         "alloc",
                                         "free",
                                         "peak",
                                         "live",
                                         "count-live",
                                         "1GiB",
                                         "3",
                                         "of",
                                         "context",
                                         "in",
                                         "range",
                                         "capture",
                                         "after",
                                         "first",
                                         "mark",
                                         "until",
                                         "not",
                                         "module",
                                         "stack",
                                         "/a|b/",
                                         "/(/",
                                         "\"x",
                                         "\"x y\"",
                                         "kind",
                                         "device",
                                         "or",
                                         "#",
                                         "\n",
                                         "\t",
                                         std::string(1, '\0'),
                                         "\xff",
                                         "//",
                                         ":",
                                         std::string(70, 'n')};
    std::mt19937 random(1);
    std::size_t accepted = 0;
    for (int file = 0; file < 20000; ++file) {
        std::string text = file % 2 ? "a: forbid alloc " : "";
        for (std::size_t word = random() % 12; word > 0; --word)
            text += words[random() % words.size()] + (random() % 8 ? " " : "");
        const std::string place = place_of_error(text);
        accepted += place == "accepted";
        EXPECT_TRUE(place == "accepted" || place.find(':') != place.npos || place[0] == ' ')
            << text;
    }
    EXPECT_GT(accepted, 100u);
}

TEST(ReadRules, AnOptionIsARuleOfItsOwn)
{
    Rules rules;
    add_forbidden(rules, "alloc in range step*");
    add_forbidden(rules, "free");
    EXPECT_EQ(rules.rules[0].name, "forbid alloc in range step*");
    add_forbidden(rules, " free ");
    ASSERT_EQ(rules.rules.size(), 2u) << "a rule that is given twice is one";
    EXPECT_EQ(rules.rules[1].name, "forbid free");
    EXPECT_THROW(add_forbidden(rules, "allocs"), Error);
    EXPECT_THROW(add_forbidden(rules, ""), Error);
}

TEST(ReadRules, Patterns)
{
    EXPECT_TRUE(glob_matches("step*", "step 12"));
    EXPECT_TRUE(glob_matches("*a*b*", "xaxbx"));
    EXPECT_TRUE(glob_matches("s??p", "step"));
    EXPECT_FALSE(glob_matches("step*", "a step"));
    EXPECT_FALSE(glob_matches("step", "step 1"));
    EXPECT_TRUE(glob_matches("*", ""));
    EXPECT_TRUE(path_matches("librmm.so*", "/usr/lib/librmm.so.1"));
    EXPECT_TRUE(path_matches("*/lib/*", "/usr/lib/librmm.so.1"));
    EXPECT_FALSE(path_matches("*/lib/x*", "/usr/lib/librmm.so.1"));
}

} // namespace
} // namespace vramscope::report
