// report/text/plan/plan.cpp — the answer, then each device, then what is not known.
#include <map>
#include <string>

#include <fmt/format.h>

#include "report/text/plan/sections.hpp"
#include "report/text/view.hpp"
#include "report/text/views.hpp"
#include "report/words/file_words.hpp"
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
    return title + fmt::format(": {}, {} reserved at most", counted(device.requests, "request"),
                               human_bytes(device.recorded_reserved));
}

void write_device(TextOutput& out, const Plan& plan, const PlanProcess& process,
                  const PlanDevice& device)
{
    out.stream() << '\n' << out.painted(title_of(plan, process, device), "1") << '\n';
    write_plan_policies(out, plan, device);
    write_plan_shortages(out, device);
    write_plan_holders(out, device);
    write_plan_savings(out, device);
    write_plan_packing(out, device);
    write_plan_pins(out, device);
}

// Sentence by sentence, the policies that it is said of.
std::map<std::string, std::string> guesses_of(const Plan& plan)
{
    std::map<std::string, std::string> guesses;
    if (plan.processes.empty() || plan.processes.front().devices.empty())
        return guesses;
    for (const PlanPolicy& row : plan.processes.front().devices.front().policies) {
        std::string& names = guesses[row.unsure];
        names += (names.empty() ? "" : ", ") + row.name;
    }
    guesses.erase("");
    return guesses;
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
    bool first = true;
    const auto say = [&](const char* head, const std::string& sentence) {
        out << (first ? "\n" : "");
        first = false;
        text.wrapped("", head, terminal_safe(sentence));
    };
    if (plan.interrupted)
        say("Not the whole run: ", "the reading was interrupted");
    for (const PlanProcess& process : plan.processes) {
        for (const std::string& doubt : process.doubts)
            say("Not the whole run: ", doubt);
        for (const PlanDevice& device : process.devices) {
            for (const std::string& sentence : device.unknown)
                say("Not known: ", sentence);
        }
    }
    for (const auto& [sentence, names] : guesses_of(plan))
        say("Not sure: ", names + ": " + sentence);
    for (const std::string& notice : plan.notices)
        say("Note: ", notice);
    for (const std::string& sentence : sentences_about(plan.unread_files))
        say("Note: ", sentence);
}

} // namespace vramscope::report
