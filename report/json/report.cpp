// report/json/report.cpp — a report as a document: its description says it all.
//
// Its size grows with the stacks, not with the events. Bytes and ns are integers, addresses are hex
// strings.
#include "report/model/report.hpp"

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"

namespace vramscope::report {

Json report_json(const Report& report, Audience audience)
{
    return document_of(report, audience);
}

Json report_schema()
{
    Schema schema;
    Json document =
        schema.document<Report>("leaks", "Bytes and nanoseconds are integers; addresses and "
                                         "offsets are hexadecimal strings; null means not known.");
    add_condition(document, {"verdict", "inconclusive"}, {{"verdict_reasons", {{"minItems", 1}}}},
                  {{"verdict_reasons", {{"maxItems", 0}}}});
    return document;
}

} // namespace vramscope::report
