// report/json/report.cpp — a report as a document: its description says it all.
//
// Its size grows with the stacks, not with the events. Bytes and ns are integers, addresses are hex
// strings.
#include "report/model/report.hpp"

#include "report/json/documents.hpp"

namespace vramscope::report {

Json report_json(const Report& report, Audience audience)
{
    return document_of(report, audience);
}

} // namespace vramscope::report
