// report/json/growth.cpp — rates are numbers with fractions; bytes and times are not.
#include "report/json/growth.hpp"

#include "report/model/leaks.hpp"

namespace vramscope::report {

Json rate_json(const GrowthRate& rate)
{
    if (rate.steps == 0)
        return nullptr;
    return {{"per", rate.per.empty() ? "call" : rate.per},
            {"bytes_per_step", rate.bytes_per_step},
            {"blocks_per_step", rate.blocks_per_step},
            {"bytes_per_call", rate.bytes_per_call},
            {"bytes_per_second", rate.bytes_per_second},
            {"steps", rate.steps},
            {"first_ns", rate.first_ns},
            {"last_ns", rate.last_ns},
            {"confidence", rate.confidence}};
}

Json growth_json(const Growth& growth)
{
    return with_stack({{"fingerprint", or_null(growth.fingerprint)},
                       {"api", growth.api},
                       {"entry_point", growth.entry_point},
                       {"memory", name(growth.memory)},
                       {"device", ordinal_json(growth.device)},
                       {"bytes", growth.bytes},
                       {"blocks", growth.blocks},
                       {"rate", rate_json(growth.rate)},
                       {"freed", growth.freed},
                       {"phase", or_null(growth.phase)},
                       {"process", growth.process}},
                      growth);
}

} // namespace vramscope::report
