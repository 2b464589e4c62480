// report/json/check.cpp — a report against its budget, as check.schema.json says.
#include "report/model/check.hpp"

#include <algorithm>
#include <cmath>

#include "report/json/documents.hpp"
#include "report/json/parts.hpp"
#include "report/model/ranks.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kCheckSchemaVersion = "1.1.0";

// Bytes and counts are whole.
Json amount_json(double value, CheckUnit unit)
{
    if (unit == CheckUnit::bytes || unit == CheckUnit::count)
        return static_cast<std::uint64_t>(std::min(value, 0x1p63));
    return value;
}

Json culprit_json(const Culprit& culprit)
{
    return {{"bytes", culprit.bytes},
            {"count", culprit.count},
            {"fingerprint", or_null(culprit.place->fingerprint)},
            {"api", culprit.place->api},
            {"entry_point", culprit.place->entry_point},
            {"stack", to_json(culprit.place->stack, Audience::file)}};
}

Json row_json(const CheckRow& row)
{
    return {{"budget", row.budget},
            {"unit", name(row.unit)},
            {"limit", amount_json(row.limit, row.unit)},
            {"measured", amount_json(row.measured, row.unit)},
            {"state", name(row.state)},
            {"process", row.process},
            {"failed_processes", row.failed},
            {"culprits", list_json(row.culprits, culprit_json)}};
}

Json breach_json(const TestBreach& breach)
{
    return {{"budget", breach.budget},
            {"limit", breach.limit},
            {"measured", breach.measured},
            {"culprits", list_json(breach.culprits, culprit_json)}};
}

Json test_check_json(const Report& report, const TestCheck& check)
{
    const TestRow& test = report.processes[check.process].tests[check.test];
    return {{"name", test.name},
            {"process", check.process},
            {"state", name(check.state)},
            {"ended", test.ended()},
            {"breaches", list_json(check.breaches, breach_json)}};
}

Json tests_json(const Check& check, const Report& report)
{
    return {{"count", check.tests},
            {"failed", check.failed_tests},
            {"unknown", check.unknown_tests},
            {"rows", list_json(check.test_rows, [&](const TestCheck& row) {
                 return test_check_json(report, row);
             })}};
}

Json checked_process_json(const Report& report, const RankRow& row)
{
    const Process& process = report.processes[row.process];
    return {{"index", row.process},        {"pid", process.pid},
            {"rank", or_null(row.rank)},   {"program", or_null(process.program)},
            {"log", process.log.string()}, {"verdict", name(row.verdict)}};
}

} // namespace

Json check_json(const Check& check, const Report& report, Audience audience)
{
    std::vector<RankRow> rows = report.ranks.rows;
    std::sort(rows.begin(), rows.end(),
              [](const RankRow& a, const RankRow& b) { return a.process < b.process; });
    Json document = {{"schema_version", kCheckSchemaVersion},
                     {"verdict", name(check.verdict)},
                     {"exit_status", static_cast<int>(check.exit)},
                     {"reasons", check.doubts},
                     {"budgets", list_json(check.rows, row_json)},
                     {"suppressed_bytes", report.totals.suppressed_bytes},
                     {"suppressed_blocks", report.totals.suppressed_blocks},
                     {"processes", list_json(rows, [&](const RankRow& row) {
                          return checked_process_json(report, row);
                      })}};
    if (check.tests > 0)
        document["tests"] = tests_json(check, report);
    return document;
}

} // namespace vramscope::report
