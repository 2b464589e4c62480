// report/ci_formats/sarif.cpp — SARIF 2.1.0, as GitHub's code scanning and editors read it.
#include <algorithm>
#include <string_view>

#include "report/ci_formats/ci_formats.hpp"
#include "report/json/write.hpp"
#include "report/model/check.hpp"
#include "report/model/report.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::size_t kMostResults = 5000;       // GitHub keeps as many of a run
constexpr std::size_t kMostFlowLocations = 1000; // and shows as many of a stack
constexpr const char* kRoot = "%SRCROOT%";

Json text_json(std::string_view text)
{
    return {{"text", text}};
}

Json rule_json(const ProblemRule& rule)
{
    return {{"id", rule.id},
            {"name", rule.name},
            {"shortDescription", text_json(rule.what)},
            {"fullDescription", text_json(rule.what)},
            {"help", text_json(rule.help)},
            {"defaultConfiguration", {{"level", "error"}}},
            {"properties", {{"tags", {"cuda", "memory"}}}}};
}

Json physical_json(const SourcePlace& place)
{
    Json artifact = {{"uri", uri_of(place)}};
    if (place.in_root)
        artifact["uriBaseId"] = kRoot;
    return {{"artifactLocation", artifact}, {"region", {{"startLine", std::max(place.line, 1)}}}};
}

Json location_json(const SourcePlace& place, const std::string& function)
{
    Json location = Json::object();
    if (!place.path.empty())
        location["physicalLocation"] = physical_json(place);
    if (!function.empty())
        location["logicalLocations"] =
            Json::array({{{"fullyQualifiedName", function}, {"kind", "function"}}});
    return location;
}

class SarifWriter {
public:
    explicit SarifWriter(const CheckedRun& checked) : checked_(checked) {}

    Json document() const
    {
        const Json driver = {{"name", "vramscope"},
                             {"version", checked_.version},
                             {"semanticVersion", checked_.version},
                             {"rules", rules()}};
        Json run = {{"tool", {{"driver", driver}}},
                    {"automationDetails", {{"id", "vramscope/"}}},
                    {"originalUriBaseIds",
                     {{kRoot, {{"description", text_json("the root of the repository")}}}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"invocations", Json::array({invocation()})},
                    {"results", results()},
                    {"properties", {{"findings", findings()}}}};
        return {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs", Json::array({std::move(run)})}};
    }

private:
    Json findings() const
    {
        Json findings = Json::array();
        for (const Headline& headline : checked_.report.headlines)
            if (headline.is_finding())
                findings.push_back(headline.sentence());
        return findings;
    }

    static Json rules()
    {
        Json rules = Json::array();
        for (const ProblemRule& rule : problem_rules())
            rules.push_back(rule_json(rule));
        return rules;
    }

    // What the logs do not show is said here: a viewer then knows that nothing found proves
    // nothing.
    Json invocation() const
    {
        const Check& check = checked_.check;
        Json notes = Json::array();
        const auto note = [&](const char* level, const std::string& text) {
            notes.push_back({{"level", level}, {"message", text_json(text)}});
        };
        const std::vector<std::string> doubts = doubts_of(check);
        for (const std::string& doubt : doubts)
            note("error", doubt);
        if (checked_.report.totals.suppressed_blocks > 0)
            note("note", human_bytes(checked_.report.totals.suppressed_bytes) + " in " +
                             counted(checked_.report.totals.suppressed_blocks, "block") +
                             " match a rule of suppression, and are no results");
        if (checked_.problems.size() > kMostResults)
            note("warning", "only the first " + grouped(kMostResults) + " of " +
                                grouped(checked_.problems.size()) + " problems are here");
        return {{"executionSuccessful", doubts.empty()},
                {"exitCode", static_cast<int>(check.exit)},
                {"toolExecutionNotifications", std::move(notes)}};
    }

    Json results() const
    {
        Json results = Json::array();
        const std::size_t shown = std::min(kMostResults, checked_.problems.size());
        for (std::size_t at = 0; at < shown; ++at)
            results.push_back(result(checked_.problems[at]));
        return results;
    }

    Json result(const Problem& problem) const
    {
        const Frame* const own = problem.place ? problem.place->own_frame() : nullptr;
        Json result = {{"ruleId", problem.rule->id},
                       {"ruleIndex", problem.rule - problem_rules().data()},
                       {"level", name(problem.severity)},
                       {"message", text_json(problem.message)},
                       {"locations",
                        Json::array({location_json(problem.where, own ? function_of(*own) : "")})},
                       {"partialFingerprints", {{"vramscopeStack/v1", problem.fingerprint}}}};
        if (problem.place && !problem.place->stack.empty())
            result["codeFlows"] = Json::array(
                {{{"threadFlows", Json::array({{{"locations", flow(*problem.place)}}})}}});
        if (problem.count > 0)
            result["occurrenceCount"] =
                std::min<std::uint64_t>(problem.count, std::uint64_t{INT32_MAX});
        result["properties"] = {{"bytes", problem.bytes},
                                {"count", problem.count},
                                {"processes", problem.processes.size()}};
        if (!problem.reach.empty())
            result["properties"]["reach"] = problem.reach;
        if (!problem.test.empty())
            result["properties"]["test"] = terminal_safe(problem.test);
        return result;
    }

    // From the beginning of the program to the call.
    Json flow(const CallPlace& place) const
    {
        Json locations = Json::array();
        const std::size_t shown = std::min(kMostFlowLocations, place.stack.size());
        for (std::size_t at = shown; at-- > 0;) {
            const Frame& frame = place.stack[at];
            Json location = location_json(checked_.paths.of_frame(frame), function_of(frame));
            location["message"] = text_json(at == 0 && !place.api.empty() ? terminal_safe(place.api)
                                                                          : function_of(frame));
            locations.push_back({{"location", std::move(location)}});
        }
        return locations;
    }

    const CheckedRun& checked_;
};

} // namespace

void write_sarif(std::ostream& out, const CheckedRun& checked)
{
    out << SarifWriter(checked).document().dump(2, ' ', true, Json::error_handler_t::replace)
        << '\n';
}

} // namespace vramscope::report
