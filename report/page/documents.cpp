// report/page/documents.cpp — see documents.hpp.
#include "report/page/documents.hpp"

#include "report/model/check.hpp"
#include "report/model/comparison.hpp"
#include "report/model/job.hpp"
#include "report/model/plan/plan.hpp"
#include "report/model/report.hpp"
#include "report/page/drawn.hpp"
#include "report/page/thin.hpp"
#include "report/words/check_words.hpp"
#include "report/words/job_words.hpp"
#include "report/words/plan_words.hpp"
#include "report/words/rank_words.hpp"

namespace vramscope::report {
namespace {

void add_why_short(Json& card, const PlanCard& known, const PlanDevice& device)
{
    if (known.shortage)
        card["first_shortage"]["why"] = why_short(*known.shortage, known.bytes, device.base);
}

void add_words(Json& json, const PlanDevice& device)
{
    for (std::size_t policy = 0; policy < device.policies.size(); ++policy)
        for (std::size_t card = 0; card < device.policies[policy].cards.size(); ++card)
            add_why_short(json["policies"][policy]["cards"][card],
                          device.policies[policy].cards[card], device);
    if (device.recorded_failure)
        add_why_short(json["recorded_failure"], *device.recorded_failure, device);
    for (std::size_t at = 0; at < device.savings.size(); ++at)
        json["savings"][at]["change"] = change_of(device.savings[at]);
}

// `process` and `device` are numbers of the plan's processes and of its devices.
Json answer_json(const Plan& plan)
{
    const PlanAnswer answer = plan.answer();
    if (!answer.device)
        return nullptr;
    const PlanPolicy& judged = answer.judged();
    return {
        {"process", answer.process - plan.processes.data()},
        {"device", answer.device - answer.process->devices.data()},
        {"best", answer.best ? Json(answer.best - answer.device->policies.data()) : Json(nullptr)},
        {"best_card", answer.best_card},
        {"lower_process", answer.lower_process - plan.processes.data()},
        {"lower", answer.lower - answer.lower_process->devices.data()},
        {"needs", judged.smallest_card ? Json(smallest_card_words(judged, plan.cards)) : nullptr},
        {"helps", answer.helps},
        {"saved", answer.saved},
        {"missing", answer.missing}};
}

} // namespace

Json check_document(const Check& check, const Report& report)
{
    Json json = check_json(check, report, Audience::page);
    for (std::size_t at = 0; at < check.rows.size(); ++at) {
        const CheckRow& row = check.rows[at];
        Json& budget = json["budgets"][at];
        budget["name_words"] = row.called;
        budget["measured_words"] = measured_words(row);
        budget["limit_words"] = limit_words(row);
    }
    for (std::size_t at = 0; at < check.test_rows.size(); ++at)
        json["tests"]["rows"][at]["test"] = check.test_rows[at].test; // index into tests
    return json;
}

Json comparison_document(const Comparison& comparison, const Report& base, const Report& now)
{
    constexpr std::size_t kPoints = 4096;
    Json json = comparison_json(comparison, base, now, Audience::page);
    const MemoryReport* const device = device_of_peak(base);
    if (device && !device->fine_timeline.empty()) {
        json["base"]["timeline"] = timeline_json(thinned(device->fine_timeline, kPoints));
        json["base"]["end_ns"] = device->at_end.ns;
    }
    return json;
}

Json plan_document(const Plan& plan)
{
    Json json = plan_json(plan, Audience::page);
    for (std::size_t process = 0; process < plan.processes.size(); ++process) {
        const std::vector<PlanDevice>& devices = plan.processes[process].devices;
        for (std::size_t device = 0; device < devices.size(); ++device)
            add_words(json["processes"][process]["devices"][device], devices[device]);
    }
    if (plan.scale) {
        const std::string& dimension = plan.scale->dimension;
        json["scale"]["live_line"]["words"] = line_words(plan.scale->live_line, dimension);
        json["scale"]["card_line"]["words"] = line_words(plan.scale->reserved_line, dimension);
    }
    json["answer"] = answer_json(plan);
    json["sentences"] = Json::array();
    for (const PlanSentence& one : sentences_about(plan))
        json["sentences"].push_back({{"about", one.about}, {"text", one.text}});
    return json;
}

Json job_document(const Job& job)
{
    Json json = job_json(job, Audience::page);
    const auto add_subjects = [&](Json& rows, const auto& known) {
        for (std::size_t at = 0; at < known.size(); ++at)
            rows[at]["subject"] = part_of_job(job, known[at].ranks);
    };
    add_subjects(json["ends"], job.ends);
    add_subjects(json["findings"], job.findings);
    for (std::size_t at = 0; at < job.findings.size(); ++at)
        json["findings"][at]["values"] = values_of(job.findings[at]);
    add_subjects(json["headlines"], job.headlines);
    for (std::size_t at = 0; at < job.headlines.size(); ++at)
        json["headlines"][at]["words"] = headline_words(job, job.headlines[at]);
    for (std::size_t at = 0; at < job.without_rank.size(); ++at)
        json["without_rank"][at]["words"] = outsider_words(job.without_rank[at]);
    json["title"] = title_of(job);
    json["standings"] = standings_of(job);
    json["missing_words"] = number_ranges(job.missing);
    if (job.runs_out_first)
        json["run_out_words"] = run_out_words(job);
    return json;
}

} // namespace vramscope::report
