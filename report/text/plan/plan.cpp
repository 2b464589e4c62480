// report/text/plan/plan.cpp — the answer, then each device, then what is not known.
#include <string>

#include <fmt/format.h>

#include "report/text/lines.hpp"
#include "report/text/plan/sections.hpp"
#include "report/text/views.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string title_of(const Plan& plan, const PlanProcess& process, const PlanDevice& device)
{
    std::string title = "D" + device_name(device.device).substr(1);
    if (device.device_bytes > 0)
        title += " of " + human_bytes(device.device_bytes);
    if (plan.processes.size() > 1)
        title += fmt::format(", process {}", process.pid);
    title += ": " + counted(device.requests, "request");
    if (!process.allocator.empty())
        title += " of " + terminal_safe(process.allocator);
    return title + fmt::format(", {} reserved at most", human_bytes(device.recorded_reserved));
}

void write_device(TextOutput& out, const Plan& plan, const PlanProcess& process,
                  const PlanDevice& device)
{
    out.stream() << '\n' << out.painted(title_of(plan, process, device), "1") << '\n';
    write_plan_policies(out, plan, device);
    write_plan_shortages(out, device);
    write_plan_holders(out, device);
    write_plan_savings(out, device);
    write_plan_sharing(out, device);
    write_plan_packing(out, device);
    write_plan_pins(out, device);
}

} // namespace

void write_plan(std::ostream& out, const Plan& plan, const TextStyle& style)
{
    TextOutput text(out, style);
    write_plan_answer(text, plan);
    write_plan_scale(text, plan);
    for (const PlanProcess& process : plan.processes) {
        for (const PlanDevice& device : process.devices)
            write_device(text, plan, process, device);
    }
    const std::vector<PlanSentence> sentences = sentences_about(plan);
    if (!sentences.empty())
        out << '\n';
    for (const PlanSentence& sentence : sentences)
        text.wrapped("", fmt::format("{}: ", sentence.about), terminal_safe(sentence.text));
}

} // namespace vramscope::report
