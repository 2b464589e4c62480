// report/page/findings.cpp — see findings.hpp.
#include "report/page/findings.hpp"

#include "report/json/memory.hpp"
#include "report/words/cuda_results.hpp"

namespace vramscope::report {
namespace {

// Less than this is told of no growth, and a line of that many pixels shows no more.
Json alive_json(const std::vector<AliveTime>& alive)
{
    Json ns = Json::array();
    Json bytes = Json::array();
    for (const AliveTime& time : alive) {
        ns.push_back(time.ns);
        bytes.push_back(time.bytes);
    }
    return {ns, bytes};
}

Json leak_row(const Leak& leak, PageTables& tables)
{
    return tables.with_call({{"kind", tables.text(name(leak.kind))},
                             {"class", tables.text(name(leak.leak_class))},
                             {"bytes", leak.bytes},
                             {"blocks", leak.blocks},
                             {"memory", tables.text(name(leak.memory))},
                             {"device", ordinal_json(leak.device)},
                             {"first_ns", leak.first_ns},
                             {"last_ns", leak.last_ns},
                             {"phase", tables.text(leak.phase)},
                             {"threads", leak.thread_count},
                             {"process", leak.process},
                             {"steps", leak.rate.steps},
                             {"per", tables.text(leak.rate.per)},
                             {"bytes_per_step", leak.rate.bytes_per_step},
                             {"bytes_per_second", leak.rate.bytes_per_second},
                             {"confidence", leak.rate.confidence},
                             {"alive", alive_json(leak.alive)}},
                            leak);
}

Json shortage_row(const Shortage& shortage, PageTables& tables)
{
    return tables.with_call(
        {{"at_ns", shortage.at_ns},
         {"process", shortage.process},
         {"device", ordinal_json(shortage.device)},
         {"kind", tables.text(name(shortage.kind))},
         {"requested", shortage.requested},
         {"at_least", shortage.at_least},
         {"free", shortage.free},
         {"total", shortage.total},
         {"largest_gap", if_known(shortage.pooled, shortage.largest_gap)},
         {"short_by", shortage.short_by},
         {"remedy", tables.text(shortage.remedy)},
         {"parts", waterfall_json(shortage.parts)},
         {"map", tables.text(shortage.map)},
         {"owners", tables.rows_of(shortage.owners, "owners of memory at a shortage",
                                   [&](const Leak& owner) { return leak_row(owner, tables); })}},
        shortage);
}

} // namespace

Json page_leaks(const std::vector<Leak>& leaks, const char* what, PageTables& tables)
{
    return tables.rows_of(leaks, what, [&](const Leak& leak) { return leak_row(leak, tables); });
}

Json page_growth(const std::vector<Growth>& growth, PageTables& tables)
{
    return tables.rows_of(growth, "places that grow", [&](const Growth& row) {
        return tables.with_call({{"bytes", row.bytes},
                                 {"blocks", row.blocks},
                                 {"freed", row.freed},
                                 {"process", row.process},
                                 {"steps", row.rate.steps},
                                 {"per", tables.text(row.rate.per)},
                                 {"bytes_per_step", row.rate.bytes_per_step},
                                 {"bytes_per_second", row.rate.bytes_per_second},
                                 {"first_ns", row.rate.first_ns},
                                 {"last_ns", row.rate.last_ns},
                                 {"confidence", row.rate.confidence}},
                                row);
    });
}

Json page_shortages(const std::vector<Shortage>& shortages, PageTables& tables)
{
    return tables.rows_of(shortages, "allocations that failed for want of memory",
                          [&](const Shortage& row) { return shortage_row(row, tables); });
}

Json page_misuse(const Report& report, PageTables& tables)
{
    return tables.rows_of(report.misuse, "wrong frees", [&](const Misuse& row) {
        return tables.with_call({{"kind", tables.text(name(row.kind))},
                                 {"calls", row.calls},
                                 {"result", tables.text(result_name(row.result))},
                                 {"at_ns", row.call.at_ns},
                                 {"process", row.process}},
                                row.call);
    });
}

} // namespace vramscope::report
