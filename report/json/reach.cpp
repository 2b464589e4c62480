// report/json/reach.cpp — who holds what as a document: its description says it all.
#include "report/model/reach.hpp"

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"

namespace vramscope::report {

Json reach_json(const Reach& reach, Audience audience)
{
    return document_of(reach, audience);
}

Json reach_schema()
{
    return Schema(6).document<Reach>("reach");
}

} // namespace vramscope::report
