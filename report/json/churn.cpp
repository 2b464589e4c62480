// report/json/churn.cpp — processes[].churn of report.schema.json.
#include "report/json/churn.hpp"

#include "report/model/leaks.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

Json driver_json(const DriverCalls& row)
{
    return {{"entry_point", or_null(row.entry_point)},
            {"calls", row.calls},
            {"total_ns", row.total_ns},
            {"longest_ns", row.longest_ns}};
}

Json site_json(const ChurnSite& site)
{
    return with_stack({{"api", site.api},
                       {"entry_point", or_null(site.entry_point)},
                       {"memory", name(site.memory)},
                       {"device", ordinal_json(site.device)},
                       {"allocations", site.allocations},
                       {"frees", site.frees},
                       {"allocated_bytes", site.allocated_bytes},
                       {"temporary", site.temporary},
                       {"short_lived", site.short_lived},
                       {"redundant", site.redundant},
                       {"redundant_driver", site.redundant_driver},
                       {"fingerprint", site.fingerprint}},
                      site);
}

} // namespace

Json churn_json(const ChurnReport& churn)
{
    const bool timed = churn.driver_calls > 0;
    return {{"allocations", churn.allocations},
            {"frees", churn.frees},
            {"allocated_bytes", churn.allocated_bytes},
            {"temporary", churn.temporary},
            {"short_lived", churn.short_lived},
            {"redundant", churn.redundant},
            {"redundant_driver", churn.redundant_driver},
            {"redundant_ns", if_known(timed, churn.redundant_ns)},
            {"driver_calls", if_known(timed, churn.driver_calls)},
            {"driver_ns", if_known(timed, churn.driver_ns)},
            {"driver", list_json(churn.driver, driver_json)},
            {"sizes", list_json(churn.sizes,
                                [](const SizeBin& bin) {
                                    return Json{{"from_bytes", bin.from_bytes},
                                                {"blocks", bin.blocks},
                                                {"bytes", bin.bytes}};
                                })},
            {"lifetimes", list_json(churn.lifetimes,
                                    [](const LifetimeBin& bin) {
                                        return Json{
                                            {"below_ns", if_known(bin.below_ns != 0, bin.below_ns)},
                                            {"blocks", bin.blocks}};
                                    })},
            {"sites", list_json(churn.sites, site_json)},
            {"more_sites", churn.more_sites}};
}

} // namespace vramscope::report
