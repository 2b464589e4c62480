// report/page/comparison.cpp — see comparison.hpp.
#include "report/page/comparison.hpp"

#include "report/page/processes.hpp"
#include "report/page/thin.hpp"

namespace vramscope::report {
namespace {

Json places_json(const std::vector<ComparedPlace>& places, const char* what, PageTables& tables)
{
    return tables.rows_of(places, what, [&](const ComparedPlace& row) {
        return tables.with_call({{"change", tables.text(name(row.change))},
                                 {"base_bytes", row.base_bytes},
                                 {"base_blocks", row.base_count},
                                 {"new_bytes", row.new_bytes},
                                 {"new_blocks", row.new_count}},
                                *row.place);
    });
}

Json base_json(const Report& base, PageTables& tables)
{
    Json json = {{"verdict", name(base.verdict)},
                 {"command", tables.text(base.processes.empty() ? std::string()
                                                                : base.processes.front().command)},
                 {"timeline", nullptr}};
    constexpr std::size_t kPoints = 4096;
    const MemoryReport* const device = device_of_peak(base);
    if (device && !device->fine_timeline.empty()) {
        json["timeline"] = page_timeline(thinned(device->fine_timeline, kPoints));
        json["end_ns"] = device->at_end.ns;
    }
    return json;
}

} // namespace

Json page_comparison(const Comparison& comparison, const Report& base, PageTables& tables)
{
    return {{"verdict", name(comparison.verdict)},
            {"reasons", tables.rows_of(comparison.doubts, "reasons",
                                       [&](const std::string& text) -> Json {
                                           return {{"text", tables.text(text)}};
                                       })},
            {"numbers", tables.rows_of(comparison.numbers, "numbers",
                                       [&](const ComparedNumber& number) -> Json {
                                           return {{"name", tables.text(number.name)},
                                                   {"unit", name(number.unit)},
                                                   {"base", number.base},
                                                   {"now", number.now},
                                                   {"regressed", number.regressed}};
                                       })},
            {"leaks", places_json(comparison.leaks, "changed leaks", tables)},
            {"same_leaks", comparison.same_leaks},
            {"peak", places_json(comparison.peak, "changes at the peak", tables)},
            {"churn", places_json(comparison.churn, "changes of churn", tables)},
            {"base", base_json(base, tables)}};
}

} // namespace vramscope::report
