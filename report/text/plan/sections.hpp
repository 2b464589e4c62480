// report/text/plan/sections.hpp — the parts of the text of a plan, in their order.
#pragma once

#include "report/model/plan/plan.hpp"
#include "report/text/output.hpp"

namespace vramscope::report {

void write_plan_answer(TextOutput& out, const Plan& plan);
void write_plan_policies(TextOutput& out, const Plan& plan, const PlanDevice& device);
void write_plan_shortages(TextOutput& out, const PlanDevice& device);
void write_plan_holders(TextOutput& out, const PlanDevice& device);
void write_plan_savings(TextOutput& out, const PlanDevice& device);
void write_plan_sharing(TextOutput& out, const PlanDevice& device);
void write_plan_packing(TextOutput& out, const PlanDevice& device);
void write_plan_pins(TextOutput& out, const PlanDevice& device);
void write_plan_scale(TextOutput& out, const Plan& plan);

} // namespace vramscope::report
