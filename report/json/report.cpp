// report/json/report.cpp — the report for machines, as report.schema.json beside this file says.
//
// The report is one DOM, whose size grows with the stacks, not with the events. Bytes and ns are
// integers, addresses are hex strings.
#include "report/model/report.hpp"

#include <string>

#include "report/json/churn.hpp"
#include "report/json/documents.hpp"
#include "report/json/growth.hpp"
#include "report/json/memory.hpp"
#include "report/json/parts.hpp"
#include "report/json/pool.hpp"
#include "report/json/ranks.hpp"
#include "report/json/sums.hpp"
#include "report/json/tests.hpp"
#include "report/words/file_words.hpp"

namespace vramscope::report {

namespace {

constexpr const char* kReportSchemaVersion = "1.6.0";

// What the process ran on, added to its coverage.
void add_surroundings(Json& coverage, const Process& process)
{
    const std::string simulated = process.info_value("driver.simulated");
    coverage["driver"] = {{"path", or_null(process.info_value("driver.path"))},
                          {"version", or_null(process.info_value("driver.version"))},
                          {"simulated", if_known(!simulated.empty(), simulated == "1")}};
    coverage["unwinder"] = or_null(process.info_value("unwinder"));
}

Json leak_json(const Leak& leak)
{
    Json threads = Json::array();
    for (const ThreadLabel& thread : leak.threads)
        threads.push_back({{"tid", thread.tid}, {"name", or_null(thread.name)}});
    Json json = {{"kind", name(leak.kind)},
                 {"pattern", name(leak.pattern)},
                 {"class", name(leak.leak_class)},
                 {"growth", rate_json(leak.rate)},
                 {"fingerprint", or_null(leak.fingerprint)},
                 {"bytes", leak.bytes},
                 {"blocks", leak.blocks},
                 {"shared_blocks", leak.shared_blocks},
                 {"api", leak.api},
                 {"entry_point", leak.entry_point},
                 {"memory", name(leak.memory)},
                 {"device", ordinal_json(leak.device)},
                 {"first_ns", leak.first_ns},
                 {"last_ns", leak.last_ns},
                 {"threads", threads},
                 {"thread_count", leak.thread_count},
                 {"phase", or_null(leak.phase)},
                 {"phases_differ", leak.phases_differ},
                 {"process", leak.process}};
    if (!leak.names.empty())
        json["names"] = leak.names;
    return with_stack(std::move(json), leak);
}

Json sum_json(const LeakSum& sum)
{
    return {{"kind", name(sum.kind)},
            {"class", name(sum.leak_class)},
            {"growth", rate_json(sum.rate)},
            {"stacks", sum.stacks},
            {"bytes", sum.bytes},
            {"blocks", sum.blocks},
            {"memory", name(sum.memory)},
            {"device", ordinal_json(sum.device)},
            {"first_ns", sum.first_ns},
            {"last_ns", sum.last_ns},
            {"process", sum.process},
            {"frame", to_json(sum.stack.front(), Audience::file)}};
}

Json suppressed_json(const Leak& leak)
{
    Json json = leak_json(leak);
    json["suppression"] = *leak.suppression;
    return json;
}

Json use_json(const RuleUse& use)
{
    const SuppressionRule& rule = use.rule;
    return {{"rule", rule.text()},
            {"source", or_null(rule.source)},
            {"line", if_known(!rule.built_in(), rule.line)},
            {"why", or_null(rule.why)},
            {"rows", use.rows},
            {"blocks", use.blocks},
            {"bytes", use.bytes}};
}

Json end_json(const ProcessEnd& end)
{
    const bool has_status = end.conclusive() && end.kind != ProcessEnd::Kind::replaced;
    const bool has_signal = end.kind == ProcessEnd::Kind::killed;
    return {{"kind", name(end.kind)},
            {"status", if_known(has_status, end.status)},
            {"signal", if_known(has_signal, end.signal)},
            {"text", describe(end)}};
}

Json marks_json(const Process& process)
{
    Json marks = Json::array();
    for (const Mark& mark : process.marks)
        marks.push_back(
            {{"ns", mark.ns}, {"name", mark.name}, {"tid", if_known(mark.tid != 0, mark.tid)}});
    return marks;
}

Json framework_json(const FrameworkUse& use)
{
    return {{"name", use.name},
            {"library", or_null(use.library)},
            {"bypassed", use.bypassed},
            {"bypassed_by", or_null(use.bypassed_by)},
            {"told_of_blocks", use.told_of_blocks},
            {"told_of_returns", use.told_of_returns}};
}

Json process_json(const Process& process)
{
    Json devices = Json::array();
    for (const DeviceInfo& device : process.devices)
        devices.push_back(
            {{"ordinal", device.ordinal}, {"bytes", device.bytes}, {"name", device.name}});
    Json info = Json::object();
    for (const auto& [key, value] : process.info)
        // There may be several: they are in coverage and frameworks.
        if (key != "unknown_entry_point" && key != "bypassed")
            info[key] = value;
    Json coverage = coverage_json(process.coverage);
    add_surroundings(coverage, process);
    Json json = {{"pid", process.pid},
                 {"parent_pid", process.parent_pid},
                 {"program", or_null(process.program)},
                 {"command", or_null(process.command)},
                 {"log", process.log.string()},
                 {"started", or_null(process.started)},
                 {"duration_ns", process.duration_ns},
                 {"end", end_json(process.end)},
                 {"devices", devices},
                 {"info", info},
                 {"marks", marks_json(process)},
                 {"mark_count", process.mark_count},
                 {"steps", process.step_name.empty()
                               ? Json(nullptr)
                               : Json{{"name", process.step_name}, {"count", process.step_count}}},
                 {"totals", totals_json(process.totals)},
                 {"pool", pool_json(process.pool)},
                 {"device_memory", list_json(process.memory, device_memory_json)},
                 {"churn", churn_json(process.churn)},
                 {"out_of_memory_count", process.shortage_count},
                 {"coverage", coverage}};
    if (!process.frameworks.empty())
        json["frameworks"] = list_json(process.frameworks, framework_json);
    if (process.nodes.made() > 0)
        json["autograd"] = {{"nodes", process.nodes.made()},
                            {"nodes_with_origin", process.nodes.with_origin}};
    if (process.test_count > 0) {
        json["tests"] = list_json(process.tests, test_json);
        json["test_count"] = process.test_count;
    }
    return json;
}

Json notices_json(const Report& report)
{
    Json notices = report.notices;
    for (const UnreadFile& file : report.unread_files)
        notices.push_back(notice_of(file));
    return notices;
}

} // namespace

Json report_json(const Report& report, Audience audience)
{
    Json coverage = coverage_json(report.coverage);
    if (!report.processes.empty())
        add_surroundings(coverage, report.processes.front());
    return {{"schema_version", kReportSchemaVersion},
            {"verdict", name(report.verdict)},
            {"verdict_reasons", report.reasons},
            {"notices", notices_json(report)},
            {"totals", totals_json(report.totals)},
            {"leaks", list_json(report.leaks, leak_json)},
            {"leaks_by_function", list_json(report.sums, sum_json)},
            {"unclosed_imports", list_json(report.imports, leak_json)},
            {"suppressed", list_json(report.suppressed, suppressed_json)},
            {"suppressions", list_json(report.suppressions, use_json)},
            {"growth", list_json(report.growth, growth_json)},
            {"misuse", to_json(report.misuse, audience)},
            {"damage", to_json(report.damage, audience)},
            {"out_of_memory", list_json(report.shortages, shortage_json)},
            {"failed_calls", to_json(report.failed_calls, audience)},
            {"owners_not_destroyed", list_json(report.owners, leak_json)},
            {"graph_memory", list_json(report.graph_memory, leak_json)},
            {"reservations", list_json(report.reservations, leak_json)},
            {"coverage", coverage},
            {"processes", list_json(report.processes, process_json)},
            {"ranks", ranks_json(report)}};
}

} // namespace vramscope::report
