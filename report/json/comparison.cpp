// report/json/comparison.cpp — a comparison for machines.
#include "report/model/comparison.hpp"

#include "report/json/documents.hpp"
#include "report/json/parts.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kDiffSchemaVersion = "1.2.0";

Json number_json(const ComparedNumber& number)
{
    return {{"name", number.name},
            {"unit", name(number.unit)},
            {"base", number.base},
            {"new", number.now},
            {"regressed", number.regressed}};
}

Json place_json(const ComparedPlace& place)
{
    return {{"change", name(place.change)},
            {"fingerprint", or_null(place.place->fingerprint)},
            {"api", place.place->api},
            {"entry_point", place.place->entry_point},
            {"base", {{"bytes", place.base_bytes}, {"blocks", place.base_count}}},
            {"new", {{"bytes", place.new_bytes}, {"blocks", place.new_count}}},
            {"stack", to_json(place.place->stack, Audience::file)}};
}

Json side_json(const Report& report)
{
    return {{"verdict", name(report.verdict)},
            {"verdict_reasons", report.reasons},
            {"logs", list_json(report.processes,
                               [](const Process& process) { return Json(process.log.string()); })}};
}

} // namespace

Json comparison_json(const Comparison& comparison, const Report& base, const Report& now,
                     Audience audience)
{
    return {{"schema_version", kDiffSchemaVersion},
            {"verdict", name(comparison.verdict)},
            {"reasons", comparison.doubts},
            {"base", side_json(base)},
            {"new", side_json(now)},
            {"numbers", list_json(comparison.numbers, number_json)},
            {"leaks", list_json(comparison.leaks, place_json)},
            {"same_leaks", comparison.same_leaks},
            {"peak", list_json(comparison.peak, place_json)},
            {"churn", list_json(comparison.churn, place_json)}};
}

} // namespace vramscope::report
