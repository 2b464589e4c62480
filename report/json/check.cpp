// report/json/check.cpp — a report against its budget as a document.
#include "report/model/check.hpp"

#include <algorithm>

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"
#include "report/judge/finding_kinds.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

struct CheckedTest {
    const TestCheck* check;
    const TestRow* test;
};
template <>
struct Fields<CheckedTest> {
    static constexpr const char* kName = "test";
    static constexpr auto check = &CheckedTest::check;
    static constexpr FieldList kAll{
        Field{"name", Via{&CheckedTest::test, &TestRow::name}},
        Field{"process", Via{check, &TestCheck::process}, "Index into processes."},
        Field{"state", Via{check, &TestCheck::state}}.never("ok"),
        Field{"ended", Via{&CheckedTest::test, &TestRow::ended}},
        Field{"breaches", Via{check, &TestCheck::breaches}},
    };
};

struct CheckedProcess {
    const RankRow* row;
    const Process* process;
};
template <>
struct Fields<CheckedProcess> {
    static constexpr const char* kName = "process";
    static constexpr auto row = &CheckedProcess::row;
    static constexpr auto process = &CheckedProcess::process;
    static constexpr FieldList kAll{
        Field{"index", Via{row, &RankRow::process}},
        Field{"pid", Via{process, &Process::pid}},
        Field{"rank", Via{row, &RankRow::rank}},
        Field{"program", OrNull{Via{process, &Process::program}}},
        Field{"log", Via{process, &Process::log}},
        Field{"verdict", Via{row, &RankRow::verdict}, "About its leaks alone, as in the report."},
    };
};

struct CheckDocument {
    const Check* check;
    const Report* report;

    int exit_status() const { return static_cast<int>(check->exit); }
    bool names_tests() const { return check->tests > 0; }

    std::vector<CheckedProcess> processes() const // in the order of the logs
    {
        std::vector<CheckedProcess> processes;
        for (const RankRow& row : report->ranks.rows)
            processes.push_back({&row, &report->processes[row.process]});
        std::sort(processes.begin(), processes.end(),
                  [](const CheckedProcess& a, const CheckedProcess& b) {
                      return a.row->process < b.row->process;
                  });
        return processes;
    }

    std::vector<CheckedTest> tests() const
    {
        std::vector<CheckedTest> tests;
        for (const TestCheck& row : check->test_rows)
            tests.push_back({&row, &report->processes[row.process].tests[row.test]});
        return tests;
    }
};
template <>
struct Fields<CheckDocument> {
    static constexpr const char* kName = "check";
    static constexpr unsigned kMinorVersion = 1;
    static constexpr auto check = &CheckDocument::check;
    static constexpr auto totals = Via{&CheckDocument::report, &Report::totals};
    static constexpr FieldList kAll{
        Field{"verdict", Via{check, &Check::verdict},
              "failed: a budget was measured to be exceeded, whatever else the logs do not show. "
              "inconclusive: none was, but the logs do not prove that all were kept; reasons says "
              "why. nothing-observed: no CUDA memory call was seen."},
        Field{"exit_status", &CheckDocument::exit_status,
              "0, also of the last two verdicts with --allow-inconclusive; 100 failed; 110 nothing "
              "observed; 111 inconclusive."},
        Field{"reasons", Via{check, &Check::doubts},
              "Why the logs do not prove everything, one line each."}
            .lines(),
        Field{"budgets", Via{check, &Check::rows}},
        Field{"suppressed_bytes", Via{totals, &Totals::suppressed_bytes},
              "Known leaks, over all processes: in no budget."},
        Field{"suppressed_blocks", Via{totals, &Totals::suppressed_blocks}},
        Field{"processes", &CheckDocument::processes, "In the order of the logs."}.not_empty(),
        Field{"tests",
              If{&CheckDocument::names_tests,
                 Group{Field{"count", Via{check, &Check::tests}},
                       Field{"failed", Via{check, &Check::failed_tests}, "Over a budget."},
                       Field{"unknown", Via{check, &Check::unknown_tests},
                             "Over none, as far as the logs show: tests that failed or did not "
                             "end, and those of logs that lack events."},
                       Field{"rows", &CheckDocument::tests,
                             "Those over a budget, and those that did not end; the worst first."}}},
              "Each test by itself, held against max-leaked and max-peak: where the programs name "
              "their tests."}
            .since(1),
    };
};

Json check_json(const Check& check, const Report& report, Audience audience)
{
    return document_of(CheckDocument{&check, &report}, audience);
}

Json check_schema()
{
    Schema schema;
    Json document = schema.document<CheckDocument>("check");
    set_values(document["properties"]["exit_status"], {0, 100, 110, 111});
    add_condition(document, {"verdict", "failed"}, {{"exit_status", {{"const", 100}}}},
                  {{"exit_status", {{"not", {{"const", 100}}}}}});
    Json& budget = document["$defs"]["budget"];
    Json budgets = {"max-leaked",         "max-growth",        "max-peak",
                    "max-reserved",       "max-fragmentation", "max-driver-calls",
                    "max-leaked-objects", "one-device",        "rules"};
    for (const FindingKind& kind : kFindingKinds) // what leaks has a line of its own
        if (!kind.by_default)
            budgets.push_back(kind.word);
    set_values(budget["properties"]["budget"], budgets);
    add_condition(budget, {"state", "failed"}, {{"failed_processes", {{"minItems", 1}}}},
                  {{"failed_processes", {{"maxItems", 0}}}});
    set_values(document["$defs"]["breach"]["properties"]["budget"], {"max-leaked", "max-peak"});
    return document;
}

} // namespace vramscope::report
