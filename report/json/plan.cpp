// report/json/plan.cpp — a plan as a document: its description says it all.
#include "report/model/plan/plan.hpp"

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"

namespace vramscope::report {

Json plan_json(const Plan& plan, Audience audience)
{
    return document_of(plan, audience);
}

Json plan_schema()
{
    Schema schema(6); // plans began with the report's 1.6
    Json document = schema.document<Plan>("plan");
    set_values(document["properties"]["exit_status"], {0, 100, 110, 111});
    add_condition(document, {"verdict", "does-not-fit"}, {{"exit_status", {{"const", 100}}}},
                  {{"exit_status", {{"not", {{"const", 100}}}}}});
    return document;
}

} // namespace vramscope::report
