// tests/report/ci_formats/ci_formats_test.cpp — a check as SARIF, JUnit XML, and for GitHub and GitLab.
#include "report/ci_formats/ci_formats.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/judge/judge.hpp"
#include "report/words/own_output.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using nlohmann::json;
using test::report_of;
using test::report_of_all;

struct Written {
    std::string sarif, junit, gitlab, annotations, page;

    json run() const { return json::parse(sarif)["runs"][0]; }
    json issues() const { return json::parse(gitlab); }
};

Written write_all(const Report& report, const Budget& budget = {})
{
    const SourcePaths paths("/home/ci/project");
    const Check checked = check(report, budget);
    const std::vector<Problem> problems = find_problems(checked, report, paths);
    const CheckedRun run{checked, report, paths, problems, "1.2.3"};
    const auto text = [&](void (*write)(std::ostream&, const CheckedRun&)) {
        std::ostringstream out;
        write(out, run);
        return out.str();
    };
    return {text(write_sarif), text(write_junit), text(write_gitlab),
            text(write_github_annotations), text(write_github_summary)};
}

std::size_t count_of(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++count;
    return count;
}

Frame frame(const std::string& function, const std::string& file, int line)
{
    Frame frame;
    frame.function = function;
    frame.file = file;
    frame.line = line;
    return frame;
}

// Two leaks, the larger one with a stack in the repository.
Report with_sources()
{
    Report report = report_of(leaking());
    Leak& leak = report.leaks.front();
    leak.stack = {frame("operator new(cuda)", "/usr/include/c++/new", 7),
                  frame("load()", "/home/ci/project/src/a b.cu", 12),
                  frame("main", "/home/ci/project/main.cu", 3)};
    leak.own = 1;
    return report;
}

TEST(CiFormats, AResultForEachStackWithItsFlowFromMainToTheCall)
{
    const json run = write_all(with_sources()).run();
    ASSERT_EQ(run["results"].size(), 2u);
    const json& result = run["results"][0];
    EXPECT_EQ(result["ruleId"], "leaks");
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
              "leaks");
    EXPECT_EQ(result["level"], "error");
    EXPECT_EQ(result["properties"]["bytes"], 2 << 20);
    const json& flow = result["codeFlows"][0]["threadFlows"][0]["locations"];
    ASSERT_EQ(flow.size(), 3u);
    EXPECT_EQ(flow[0]["location"]["message"]["text"], "main");
    EXPECT_EQ(flow[2]["location"]["message"]["text"], "cuMemAlloc");
    EXPECT_TRUE(run["invocations"][0]["executionSuccessful"].get<bool>());
}

TEST(CiFormats, PathsAreBelowTheRepositoryAndOthersAreWhole)
{
    const Written written = write_all(with_sources());
    const json result = written.run()["results"][0];
    const json& place = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], "src/a%20b.cu");
    EXPECT_EQ(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    EXPECT_EQ(place["region"]["startLine"], 12);
    const json& outside = result["codeFlows"][0]["threadFlows"][0]["locations"][2]["location"]
                                ["physicalLocation"]["artifactLocation"];
    EXPECT_EQ(outside["uri"], "file:///usr/include/c++/new");
    EXPECT_FALSE(outside.contains("uriBaseId"));
    EXPECT_EQ(written.issues()[0]["location"]["path"], "src/a b.cu");
    EXPECT_NE(written.annotations.find("::error file=src/a b.cu,line=12,title="),
              std::string::npos);
    EXPECT_NE(written.junit.find(R"(file="src/a b.cu" line="12")"), std::string::npos);
}

TEST(CiFormats, SayWhatHoldsALeakAsTheTextDoes)
{
    Report report = with_sources();
    report.leaks.front().reach = {
        {Reached::held, ReachDoubt::none, {1 << 20, 1}, {"variable `cache` of train"}},
        {Reached::lost, ReachDoubt::none, {1 << 20, 1}, {}},
    };
    const Written written = write_all(report);
    const std::string lost = "lost: 1 MiB in 1 block, nothing that was searched points to it";
    const json result = written.run()["results"][0];
    EXPECT_EQ(result["properties"]["reach"],
              json::array({lost, "held: 1 MiB in 1 block, by variable `cache` of train"}));
    EXPECT_TRUE(result["message"]["text"].get<std::string>().ends_with("; " + lost)) << result;
    EXPECT_TRUE(written.issues()[0]["description"].get<std::string>().ends_with("; " + lost));
    EXPECT_NE(written.junit.find("    " + lost + "\n    held: 1 MiB in 1 block, by variable"),
              std::string::npos)
        << written.junit;
    EXPECT_FALSE(written.run()["results"][1]["properties"].contains("reach"));
}

TEST(CiFormats, AFolderWhoseNameBeginsLikeTheRootIsElsewhere)
{
    const SourcePaths paths("/home/ci/project/");
    EXPECT_EQ(paths.below_root("/home/ci/project/./src/../a.cu"), "a.cu");
    EXPECT_EQ(paths.below_root("src/a.cu"), "src/a.cu");
    for (const char* const elsewhere :
         {"/home/ci/project2/a.cu", "/home/ci/project/../a.cu", "../a.cu", "/home/ci/project", ""})
        EXPECT_FALSE(paths.below_root(elsewhere)) << elsewhere;
}

TEST(CiFormats, FingerprintsAreTheReportsAndNoTwoAreEqual)
{
    Report report = report_of(leaking());
    const std::string fingerprint = report.leaks[0].fingerprint;
    report.leaks[1].fingerprint = fingerprint;
    const Written written = write_all(report);
    const json results = written.run()["results"];
    EXPECT_EQ(results[0]["partialFingerprints"]["vramscopeStack/v1"], fingerprint);
    EXPECT_EQ(results[1]["partialFingerprints"]["vramscopeStack/v1"], fingerprint + "-2");
    EXPECT_NE(written.issues()[0]["fingerprint"], written.issues()[1]["fingerprint"]);
}

TEST(CiFormats, AStackThatAllRanksShareIsOneResultWithTheSumOfThem)
{
    const Report report =
        report_of_all({rank(leaking(), 0, "3"), rank(clean(), 1, "3"), rank(leaking(), 2, "3")});
    const Written written = write_all(report);
    const json results = written.run()["results"];
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0]["properties"]["bytes"], 2 * (2 << 20));
    EXPECT_EQ(results[0]["properties"]["processes"], 2);
    EXPECT_NE(results[0]["message"]["text"].get<std::string>().find("in 2 of 3 processes"),
              std::string::npos);
}

TEST(CiFormats, WhatIsWithinItsBudgetIsANote)
{
    Budget budget;
    budget.max_leaked = 1 << 30;
    const Written written = write_all(report_of(leaking()), budget);
    EXPECT_EQ(written.run()["results"][0]["level"], "note");
    EXPECT_EQ(written.issues()[0]["severity"], "info");
    EXPECT_EQ(count_of(written.annotations, "::notice "), 2u);
    EXPECT_NE(written.junit.find(R"(failures="0" errors="0")"), std::string::npos);
}

TEST(CiFormats, ANumberOverItsBudgetIsShownWhereMostOfItIs)
{
    Budget budget = fail_on({});
    budget.max_peak = 1 << 20;
    const Written written = write_all(report_of(clean()), budget);
    ASSERT_EQ(written.issues().size(), 1u);
    EXPECT_EQ(written.issues()[0]["check_name"], "vramscope/max-peak");
    EXPECT_EQ(written.issues()[0]["description"], "peak allocated 8 MiB, at most 1 MiB");
    EXPECT_EQ(written.run()["results"][0]["codeFlows"].size(), 1u);
}

TEST(CiFormats, ALogThatDoesNotShowAllIsNeverAnEmptyList)
{
    const Written written = write_all(report_of(killed(clean())));
    const json run = written.run();
    EXPECT_TRUE(run["results"].empty());
    EXPECT_FALSE(run["invocations"][0]["executionSuccessful"].get<bool>());
    EXPECT_EQ(run["invocations"][0]["exitCode"], 111);
    EXPECT_FALSE(run["invocations"][0]["toolExecutionNotifications"].empty());
    EXPECT_EQ(written.issues()[0]["check_name"], "vramscope/inconclusive");
    EXPECT_TRUE(written.annotations.starts_with("::error title=vramscope%3A inconclusive::"));
    EXPECT_NE(written.junit.find("<error type=\"inconclusive\""), std::string::npos);
    EXPECT_TRUE(written.page.starts_with("### vramscope: inconclusive"));
}

TEST(CiFormats, WhatACrashHeldIsNotKnownThoughAnotherProcessFails)
{
    const Written written =
        write_all(report_of_all({killed(clean().alloc(0x9000, 90 << 20, 1)), leaking()}));
    const json run = written.run();
    std::vector<std::string> levels;
    for (const json& result : run["results"])
        levels.push_back(result["level"]);
    EXPECT_EQ(std::count(levels.begin(), levels.end(), "error"), 2);
    EXPECT_EQ(std::count(levels.begin(), levels.end(), "warning"), 1);
    EXPECT_EQ(std::count(levels.begin(), levels.end(), "note"), 0);
}

TEST(CiFormats, WhatACrashHeldIsAWarning)
{
    const Written written = write_all(report_of(killed(leaking())));
    EXPECT_EQ(written.run()["results"][0]["level"], "warning");
    EXPECT_EQ(written.issues()[1]["severity"], "minor");
}

TEST(CiFormats, NothingSeenIsSaid)
{
    const Written written = write_all(report_of(program()));
    EXPECT_FALSE(written.run()["invocations"][0]["executionSuccessful"].get<bool>());
    EXPECT_EQ(written.issues().size(), 1u);
    EXPECT_EQ(count_of(written.annotations, "no CUDA memory call was seen"), 1u);
}

TEST(CiFormats, AnAllowedDoubtFailsNothing)
{
    Budget budget;
    budget.allow_inconclusive = true;
    const Written written = write_all(report_of(killed(clean())), budget);
    EXPECT_TRUE(written.annotations.starts_with("::warning "));
    EXPECT_NE(written.junit.find(R"(errors="0" skipped="2")"), std::string::npos) << written.junit;
}

test::LogBuilder leaking_in_a_test(const std::string& name)
{
    test::LogBuilder log = program();
    log.add(format::Test{format::TestState::began, name}).alloc(0x2000, 1 << 20, 2);
    return log.add(format::Test{format::TestState::passed, name});
}

TEST(CiFormats, ATestOverItsBudgetIsNamedInEveryFormat)
{
    const Written written = write_all(report_of(leaking_in_a_test("Pool.Keeps")));
    const json results = written.run()["results"];
    ASSERT_EQ(results.size(), 2u) << "the test, and the stack";
    EXPECT_EQ(results[0]["ruleId"], "test");
    EXPECT_EQ(results[0]["properties"]["test"], "Pool.Keeps");
    EXPECT_EQ(results[0]["codeFlows"].size(), 1u);
    EXPECT_EQ(results[1]["ruleId"], "leaks");
    EXPECT_TRUE(written.issues()[0]["description"].get<std::string>().starts_with(
        "test Pool.Keeps: leaked 1 MiB, at most 0 B; cuMemAlloc in "));
    EXPECT_EQ(written.issues()[0]["check_name"], "vramscope/test");
    EXPECT_NE(written.annotations.find("title=vramscope%3A test::test Pool.Keeps: leaked 1 MiB"),
              std::string::npos);
    EXPECT_NE(written.page.find("| test (error) | test Pool&#46;Keeps"), std::string::npos);
    EXPECT_EQ(count_of(written.junit, "Pool.Keeps"), 1u) << "as a case of its own, and no stack";
}

TEST(CiFormats, JunitHasThePlaceAndFingerprintOfATestAndOfAStackAsSarifHasThem)
{
    Report report = report_of(leaking_in_a_test("Pool.Keeps"));
    report.leaks.front().stack = {frame("load()", "/home/ci/project/src/a b.cu", 12)};
    report.processes.front().tests.front().leaks.front().stack = report.leaks.front().stack;
    const Written written = write_all(report);
    const json results = written.run()["results"];
    ASSERT_EQ(results.size(), 2u);
    for (const json& result : results) {
        const auto& location = result["locations"][0]["physicalLocation"];
        const std::string fingerprint = result["partialFingerprints"]["vramscopeStack/v1"];
        EXPECT_EQ(count_of(written.junit,
                           R"(<property name="fingerprint" value=")" + fingerprint + "\"/>"),
                  1u);
        EXPECT_EQ(location["region"]["startLine"], 12);
    }
    EXPECT_EQ(count_of(written.junit, R"( file="src/a b.cu" line="12">)"), 2u) << written.junit;
    EXPECT_EQ(count_of(written.junit, R"(<property name="bytes" value="1048576"/>)"), 2u);
}

TEST(CiFormats, ATestIsKnownByItsNameWhereverItLeaks)
{
    const auto fingerprint_of = [](test::LogBuilder log) {
        return write_all(report_of(log)).run()["results"][0]["partialFingerprints"].dump();
    };
    const std::string first = fingerprint_of(leaking_in_a_test("Pool.Keeps"));
    EXPECT_EQ(fingerprint_of(leaking_in_a_test("Pool.Keeps").alloc(0x3000, 2 << 20, 3)), first);
    EXPECT_NE(fingerprint_of(leaking_in_a_test("Pool.Caches")), first);
}

TEST(CiFormats, ATestThatDidNotEndIsAWarning)
{
    test::LogBuilder log = killed(clean());
    log.add(format::Test{format::TestState::began, "</failure>\n::error::\x1b[2J"});
    const Written written = write_all(report_of(log));
    EXPECT_EQ(written.run()["results"][0]["level"], "warning");
    EXPECT_EQ(written.issues().back()["severity"], "minor");
    EXPECT_NE(written.annotations.find("::warning title=vramscope%3A test::test </failure>"),
              std::string::npos)
        << written.annotations;
    EXPECT_EQ(written.annotations.find("\n::error::"), std::string::npos);
    EXPECT_EQ(written.page.find("</failure>"), std::string::npos);
}

TEST(CiFormats, GitHubShowsTenOfAKindAndTheTenthCountsTheRest)
{
    Report report = report_of(leaking());
    for (int more = 0; more < 20; ++more) {
        report.leaks.push_back(report.leaks.front());
        std::vector<Frame> stack = report.leaks.back().stack;
        stack.front().offset += 1 + static_cast<std::uint64_t>(more);
        report.leaks.back().stack = std::move(stack);
    }
    const Written written = write_all(report);
    EXPECT_EQ(count_of(written.annotations, "::error "), 10u);
    EXPECT_NE(written.annotations.find("::error title=vramscope::13 more findings"),
              std::string::npos);
}

TEST(CiFormats, HostileNamesAreTextInEveryFormat)
{
    const std::string hostile = "</failure>]]>&\"'`|**x**%0A::error::\n\r::add-mask::a\x1b[2J\xff"
                                "\xe2\x80\xae\xef\xbf\xbe" +
                                std::string(10'000, 'A');
    Report report = with_sources();
    std::vector<Frame> stack = report.leaks[0].stack;
    stack[1].function = hostile;
    stack[1].file = "/home/ci/project/a,b:c\n::error::x\"<.cu";
    report.leaks[0].stack = std::move(stack);
    report.leaks[0].api = hostile;
    report.processes[0].program = hostile;
    report.reasons = {hostile};
    const Written written = write_all(report);
    EXPECT_EQ(written.run()["results"].size(), 2u);
    EXPECT_EQ(written.issues().size(), 3u);
    for (const std::string* text : {&written.junit, &written.annotations, &written.page}) {
        EXPECT_EQ(text->find('\x1b'), std::string::npos);
        EXPECT_EQ(text->find("\xe2\x80\xae"), std::string::npos);
        EXPECT_EQ(text->find('\r'), std::string::npos);
    }
    EXPECT_EQ(count_of(written.junit, "</failure>"), count_of(written.junit, "<failure"));
    EXPECT_EQ(written.junit.find("\xef\xbf\xbe"), std::string::npos);
    std::istringstream lines(written.annotations);
    for (std::string line; std::getline(lines, line);)
        EXPECT_TRUE(line.starts_with("::error ") || line.starts_with("::warning ")) << line;
    EXPECT_EQ(written.page.find("**x**"), std::string::npos);
}

TEST(CiFormats, FilesWithVeryManyProblemsSayWhatTheyLeaveOut)
{
    const Report report = report_of(leaking());
    const SourcePaths paths("/home/ci/project");
    const Check checked = check(report, {});
    std::vector<Problem> problems = find_problems(checked, report, paths);
    ASSERT_FALSE(problems.empty());
    problems.resize(6000, problems.front());
    const CheckedRun run{checked, report, paths, problems, "1.2.3"};
    for (const auto write : {write_sarif, write_gitlab}) {
        std::ostringstream out;
        write(out, run);
        EXPECT_NE(out.str().find("only the first 5,000 of 6,000 problems are here"),
                  std::string::npos);
        EXPECT_LT(count_of(out.str(), problems.front().message), 5100u);
    }
}

TEST(CiFormats, FilesAreKnownAsOurs)
{
    for (const Report& report : {report_of(leaking()), report_of(clean())}) {
        const Written written = write_all(report);
        for (const std::string& text : {written.sarif, written.junit, written.gitlab})
            EXPECT_TRUE(is_own_output(std::string_view(text).substr(0, kOwnHeadBytes))) << text;
    }
    EXPECT_FALSE(is_own_output("[\n  {\n    \"check_name\": \"eslint/semi\""));
    EXPECT_FALSE(is_own_output("[]\n"));
    EXPECT_FALSE(is_own_output("[]"));
    EXPECT_FALSE(is_own_output("vramscope: CLEAN: nothing leaked\n"));
    EXPECT_FALSE(is_own_output("vramscope: my notes on memory 1\n"));
    EXPECT_TRUE(is_own_output("vramscope: device memory, device 0;main;load 4096\n"));
    EXPECT_TRUE(is_own_output("vramscope: pinned memory 4096\n"));
    EXPECT_FALSE(is_own_output("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites/>"));
}

} // namespace
} // namespace vramscope::report
