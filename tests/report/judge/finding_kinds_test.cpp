// tests/report/judge/finding_kinds_test.cpp — each kind of finding, in each form of a check.
#include "report/judge/finding_kinds.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/ci_formats/ci_formats.hpp"
#include "report/json/json.hpp"
#include "report/judge/judge.hpp"
#include "report/text/views.hpp"
#include "tests/report/findings/growth/growth_scene.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using nlohmann::json;
using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;
using test::operator""_GiB;

// Freed at the end, so that it leaks nothing.
LogBuilder growing()
{
    test::GrowthScene scene;
    std::vector<std::uint64_t> kept;
    scene.steps(100, [&](std::size_t) { kept.push_back(scene.take(1)); });
    scene.give(kept);
    return scene.log;
}

// A log that has the finding. A new enumerator does not compile here without its own.
LogBuilder log_with(Finding finding)
{
    switch (finding) {
    case Finding::leaks:
        return leaking();
    case Finding::unclosed_imports:
        return clean().alloc(0x5000, 1_MiB, 2, "cuIpcOpenMemHandle_v2");
    case Finding::growth:
        return growing();
    case Finding::objects: {
        test::GrowthScene scene;
        scene.steps(100, [&](std::size_t step) {
            scene.flash(1);
            scene.log.alloc(0x900000 + step, 0, 2, "cuCtxCreate_v2");
        });
        return scene.log;
    }
    case Finding::workspaces: {
        test::GrowthScene scene;
        scene.log.module(2, 0x600000, 0x600000, 0x700000, "/opt/libcublas.so.12", "blas");
        scene.log.stack(11, {0x601001, 0x401001});
        std::vector<std::uint64_t> kept;
        scene.steps(100, [&](std::size_t) { kept.push_back(scene.take(11, 1_MiB)); });
        scene.give(kept);
        return scene.log;
    }
    case Finding::out_of_memory:
        return clean().out_of_memory({.requested = 1_GiB, .free = 1_MiB, .total = 1_GiB});
    case Finding::misuse:
        return clean().failed_free(0x1000, 4);
    case Finding::damage:
        return clean().damaged(format::Damage::overrun, 0x1000, 16, 4);
    case Finding::failed_calls:
        return clean().failed(1, 4096);
    case Finding::stray_contexts: {
        format::ContextOpened opened;
        opened.context = 2;
        opened.stack = 1;
        return clean().context(2, 1).context_opened(opened);
    }
    }
    return clean();
}

struct Forms {
    std::string text, summary, junit, annotations, page;
    json check, sarif, gitlab;
};

Forms forms_of(const Report& report, const Budget& budget)
{
    const Check checked = check(report, budget);
    const SourcePaths paths("/home/ci/project");
    const std::vector<Problem> problems = find_problems(checked, report, paths);
    const CheckedRun run{checked, report, paths, problems, "1.2.3"};
    const auto text = [](auto write, const auto&... arguments) {
        std::ostringstream out;
        write(out, arguments...);
        return out.str();
    };
    return {text(write_check, checked, report, TextStyle{}),
            text(write_check_summary, checked, report, TextStyle{}),
            text(write_junit, run),
            text(write_github_annotations, run),
            text(write_github_summary, run),
            json::parse(text(write_check_json, checked, report, JsonStyle{})),
            json::parse(text(write_sarif, run)),
            json::parse(text(write_gitlab, run))};
}

Budget failing_on(const FindingKind& kind)
{
    return fail_on({kind.with.value_or(kind.finding)});
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

// "2 MiB in 1 block was not freed": no line of a budget says so, only a row of the kind.
std::string amount_of_first(const FindingKind& kind, const Report& report)
{
    const std::vector<FoundRow> rows = kind.rows(report);
    if (rows.empty())
        return "a row";
    const Culprit& first = rows.front().culprit;
    const std::string amount = kind.amount(first.bytes, first.count);
    return amount.substr(0, amount.find(','));
}

class OfEachKind : public testing::TestWithParam<Finding> {
protected:
    const FindingKind& kind = kind_of(GetParam());
    const std::string word = kind.word;
    Report report = report_of(log_with(kind.finding));
    Forms forms = forms_of(report, failing_on(kind));
    std::string amount = amount_of_first(kind, report);
};

std::vector<Finding> all_findings()
{
    std::vector<Finding> findings;
    for (const FindingKind& kind : kFindingKinds)
        findings.push_back(kind.finding);
    return findings;
}

INSTANTIATE_TEST_SUITE_P(FindingKinds, OfEachKind, testing::ValuesIn(all_findings()),
                         [](const testing::TestParamInfo<Finding>& one) {
                             std::string name = kind_of(one.param).word;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST_P(OfEachKind, ItsLogHasRowsAndACleanOneHasNone)
{
    const std::vector<FoundRow> rows = kind.rows(report);
    ASSERT_FALSE(rows.empty());
    EXPECT_FALSE(rows.front().culprit.place->api.empty());
    EXPECT_GT(rows.front().culprit.count, 0u);
    EXPECT_FALSE(rows.front().detail.empty());
    EXPECT_TRUE(kind.rows(report_of(clean())).empty());
}

TEST_P(OfEachKind, FailsACheckThatNamesItAndNoOther)
{
    EXPECT_EQ(check(report, failing_on(kind)).exit, Exit::findings);
    EXPECT_EQ(check(report, fail_on({})).exit, Exit::ok);
    EXPECT_EQ(check(report_of(clean()), failing_on(kind)).exit, Exit::ok);
}

TEST_P(OfEachKind, IsARegressionWhereItIsNewAndBetterWhereItIsGone)
{
    const Report none = report_of(clean());
    const auto has_it = [&](const Comparison& compared, Change change) {
        return std::any_of(compared.leaks.begin(), compared.leaks.end(),
                           [&](const ComparedPlace& row) { return row.change == change; }) ||
               std::any_of(compared.findings.begin(), compared.findings.end(),
                           [&](const ComparedFinding& row) {
                               return row.kind == word && row.change == change;
                           });
    };
    constexpr double kAnyPeak = 10; // the two logs are not of one program
    const Comparison worse = compare(none, report, kAnyPeak);
    EXPECT_EQ(worse.exit, Exit::regressed);
    EXPECT_TRUE(has_it(worse, Change::added));
    std::ostringstream text;
    write_comparison(text, worse, report, TextStyle{});
    EXPECT_TRUE(has(text.str(), "WORSE")) << text.str();
    const Comparison better = compare(report, none, kAnyPeak);
    EXPECT_EQ(better.exit, Exit::ok);
    EXPECT_EQ(better.verdict, Comparison::Verdict::better);
    EXPECT_TRUE(has_it(better, Change::gone));
    const Comparison same = compare(report, report, kAnyPeak);
    EXPECT_EQ(same.verdict, Comparison::Verdict::same);
    EXPECT_TRUE(same.findings.empty());
}

TEST_P(OfEachKind, IsToldByEachFormatThoughNoBudgetNamesIt)
{
    const Forms told = forms_of(report, fail_on({}));
    const std::string sentence = report.headlines.front().sentence();
    EXPECT_TRUE(has(told.text, "found: " + report.headlines.front().title)) << told.text;
    EXPECT_TRUE(has(told.annotations, "::notice")) << told.annotations;
    EXPECT_EQ(told.sarif["runs"][0]["properties"]["findings"][0], sentence);
    EXPECT_EQ(told.sarif["runs"][0]["results"][0]["level"], "note");
    EXPECT_EQ(told.gitlab[0]["severity"], "info");
    EXPECT_TRUE(has(told.junit, "<system-out>" + report.headlines.front().title)) << told.junit;
    EXPECT_TRUE(has(told.page, "\n- " + report.headlines.front().title)) << told.page;
}

TEST_P(OfEachKind, IsInTheTextAndTheJsonOfACheck)
{
    EXPECT_TRUE(has(forms.text, std::string("  ") + kind.called)) << forms.text;
    EXPECT_TRUE(has(forms.summary, std::string("vramscope:   ") + kind.called)) << forms.summary;
    const std::string place = kind.rows(report).front().culprit.place->api;
    EXPECT_TRUE(has(forms.text, place)) << forms.text;
    const auto& budgets = forms.check["budgets"];
    const bool there = std::any_of(budgets.begin(), budgets.end(), [&](const json& budget) {
        return (budget["budget"] == word ||
                budget["budget"] == "max-" + std::string(kind.called)) &&
               budget["state"] == "failed" && !budget["culprits"].empty();
    });
    EXPECT_TRUE(there) << budgets;
}

TEST_P(OfEachKind, IsAResultOfSarifWithItsRule)
{
    const json& run = forms.sarif["runs"][0];
    const auto& results = run["results"];
    const auto found = std::find_if(results.begin(), results.end(),
                                    [&](const json& result) { return result["ruleId"] == word; });
    ASSERT_NE(found, results.end()) << results;
    const json& rule = run["tool"]["driver"]["rules"][(*found)["ruleIndex"].get<std::size_t>()];
    EXPECT_EQ(rule["id"], word);
    EXPECT_EQ(rule["name"], kind.title);
    EXPECT_EQ((*found)["level"], "error");
    EXPECT_TRUE((*found)["message"]["text"].get<std::string>().starts_with(amount)) << *found;
}

TEST_P(OfEachKind, IsACaseOfJunitAndForGitLabAndGitHub)
{
    EXPECT_TRUE(has(forms.junit, "type=\"" + word + "\" message=\"" + amount)) << forms.junit;
    const auto& issues = forms.gitlab;
    EXPECT_TRUE(std::any_of(issues.begin(), issues.end(), [&](const json& issue) {
        return issue["check_name"] == "vramscope/" + word && issue["severity"] == "major" &&
               issue["description"].get<std::string>().starts_with(amount);
    })) << issues;
    EXPECT_TRUE(has(forms.annotations, "title=vramscope%3A " + word + "::" + amount))
        << forms.annotations;
    EXPECT_TRUE(has(forms.page, "| " + word + " (error) | " + amount)) << forms.page;
}

// What hurts most is said first, and nothing stands above it.
TEST_P(OfEachKind, IsTheHeadlineOfEachForm)
{
    const Headline& headline = report.headlines.front();
    const bool of_leaks = kind.finding == Finding::unclosed_imports;
    const bool of_growth = kind.finding == Finding::workspaces; // all of it is in growth too
    EXPECT_STREQ(name(headline.kind), of_leaks ? "leaks" : of_growth ? "growth" : kind.word);
    std::string title = headline.title;
    std::transform(title.begin(), title.end(), title.begin(), ::toupper);
    for (const auto& write : {write_report, write_leaks, write_summary}) {
        std::ostringstream out;
        write(out, report, TextStyle{});
        EXPECT_FALSE(has(out.str(), "CLEAN")) << out.str();
        EXPECT_TRUE(has(out.str(), title)) << out.str();
    }
    std::ostringstream out;
    write_json(out, report);
    const json findings = json::parse(out.str())["findings"];
    EXPECT_EQ(findings[0]["title"], headline.title);
    EXPECT_EQ(findings[0]["sentence"], headline.sentence());
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const json& one) {
        return one["kind"] == (of_leaks ? "leaks" : word);
    })) << findings;
}

TEST(FindingKinds, ThoseThatFailByDefaultFailWhereNoneIsNamed)
{
    for (const FindingKind& kind : kFindingKinds) {
        const bool asked = kind_of(kind.with.value_or(kind.finding)).by_default;
        EXPECT_EQ(check(report_of(log_with(kind.finding)), {}).exit == Exit::findings, asked)
            << kind.word;
    }
}

} // namespace
} // namespace vramscope::report
