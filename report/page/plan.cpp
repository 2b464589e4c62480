// report/page/plan.cpp — see plan.hpp.
#include "report/page/plan.hpp"

#include "report/words/plan_words.hpp"

namespace vramscope::report {
namespace {

Json pins_json(const std::vector<PlanPin>& pins, const char* what, PageTables& tables)
{
    return tables.rows_of(pins, what, [&](const PlanPin& pin) {
        return tables.with_call({{"pinned", pin.pinned},
                                 {"bytes", pin.bytes},
                                 {"blocks", pin.blocks},
                                 {"segments", pin.segments}},
                                pin);
    });
}

// For each card, whether it fits there; if not, when the first request was not served.
Json on_cards_json(const std::vector<PlanCard>& cards)
{
    Json list = Json::array();
    for (const PlanCard& card : cards)
        list.push_back({{"fits", card.fits},
                        {"retries", card.retries},
                        {"at_ns", if_known(card.shortage.has_value(),
                                           card.shortage ? card.shortage->at_ns : 0)}});
    return list;
}

Json policies_json(const PlanDevice& device, PageTables& tables)
{
    return tables.rows_of(device.policies, "policies", [&](const PlanPolicy& policy) -> Json {
        return {{"name", tables.text(policy.name)},
                {"words", tables.text(policy.words)},
                {"recorded", policy.recorded},
                {"reserved", policy.peak_reserved},
                {"allocated", policy.allocated_then},
                {"calls", policy.device_calls},
                {"searched", policy.searched},
                {"smallest", or_null(policy.smallest_card)},
                {"fails_above", or_null(policy.fails_above)},
                {"on", on_cards_json(policy.cards)}};
    });
}

// Of the policy that is judged, and of the device that the program ran on.
Json planned_shortages_json(const PlanDevice& device, PageTables& tables)
{
    std::vector<PlanCard> failed;
    for (const PlanCard& card : device.policies.front().cards) {
        if (card.shortage)
            failed.push_back(card);
    }
    if (device.recorded_failure && device.recorded_failure->shortage)
        failed.push_back(*device.recorded_failure);
    return tables.rows_of(failed, "cards that are too small", [&](const PlanCard& card) {
        const PlanShortage& shortage = *card.shortage;
        return tables.with_call({{"card", card.bytes},
                                 {"at_ns", shortage.at_ns},
                                 {"requested", shortage.requested},
                                 {"why", tables.text(why_short(shortage, card.bytes, device.base))},
                                 {"room", pins_json(shortage.would_make_room,
                                                    "blocks that would have made room", tables)}},
                                shortage);
    });
}

Json planned_holders_json(const PlanDevice& device, PageTables& tables)
{
    return tables.rows_of(device.holders, "call stacks at a peak", [&](const PlanHolder& holder) {
        return tables.with_call({{"bytes", holder.bytes},
                                 {"blocks", holder.blocks},
                                 {"phase", tables.text(holder.phase)}},
                                holder);
    });
}

Json savings_json(const PlanDevice& device, PageTables& tables)
{
    return tables.rows_of(device.savings, "changes that would save", [&](const PlanSaving& saving) {
        return tables.with_call({{"change", tables.text(change_of(saving))},
                                 {"bytes", saving.bytes},
                                 {"blocks", saving.blocks},
                                 {"reserved", saving.saves_reserved},
                                 {"live", saving.saves_live}},
                                saving);
    });
}

Json sharing_json(const PlanDevice& device, PageTables& tables)
{
    const auto stack = [&](const PlanHolder& holder) -> Json {
        return tables.with_call({{"bytes", holder.bytes}}, holder);
    };
    return tables.rows_of(
        device.sharing, "call stacks that could share a buffer",
        [&](const PlanSharing& sharing) -> Json {
            return {{"reserved", sharing.saves_reserved},
                    {"bytes", sharing.bytes},
                    {"at_once", sharing.at_once ? 1 : 0},
                    {"pair", tables.rows_of(std::vector{sharing.first, sharing.second},
                                            "call stacks of a pair", stack)}};
        });
}

Json packing_json(const PlanPacking& packing, PageTables& tables)
{
    return {{"lower", packing.lower},
            {"upper", packing.upper},
            {"method", tables.text(packing.method)}};
}

Json planned_device_json(const PlanProcess& process, const PlanDevice& device, PageTables& tables)
{
    return {{"pid", process.pid},
            {"program", tables.text(process.program)},
            {"log", tables.text(process.log.string())},
            {"allocator", tables.text(process.allocator)},
            {"device", ordinal_json(device.device)},
            {"device_bytes", device.device_bytes},
            {"base", device.base},
            {"requests", device.requests},
            {"live_peak", device.live_peak},
            {"live_peak_ns", device.live_peak_ns},
            {"beside_peak", device.beside_peak},
            {"recorded_reserved", device.recorded_reserved},
            {"policies", policies_json(device, tables)},
            {"shortages", planned_shortages_json(device, tables)},
            {"holders", planned_holders_json(device, tables)},
            {"more_holders", device.more_holders},
            {"more_bytes", device.more_bytes},
            {"savings", savings_json(device, tables)},
            {"sharing", sharing_json(device, tables)},
            {"packing", device.packing ? packing_json(*device.packing, tables) : Json(nullptr)},
            {"pins_at_peak", pins_json(device.pins_at_peak, "blocks that pin segments", tables)},
            {"pins_at_end", pins_json(device.pins_at_end, "blocks that pin segments", tables)}};
}

Json planned_line_json(const PlanLine& line, const std::string& dimension, PageTables& tables)
{
    return {{"fixed", line.fixed},
            {"each", line.each},
            {"words", tables.text(line_words(line, dimension))}};
}

Json planned_scale_json(const PlanScale& scale, PageTables& tables)
{
    const std::string& dimension = scale.dimension;
    return {
        {"dimension", tables.text(dimension)},
        {"values", scale.values},
        {"live", scale.live},
        {"card", scale.reserved},
        {"live_line", planned_line_json(scale.live_line, dimension, tables)},
        {"card_line", planned_line_json(scale.reserved_line, dimension, tables)},
        {"stacks",
         tables.rows_of(
             scale.stacks, "call stacks over the runs",
             [&](const PlanScaledStack& row) {
                 return tables.with_call({{"each", row.line.each}, {"fixed", row.line.fixed}}, row);
             })},
        {"cards", tables.rows_of(scale.cards, "cards", [](const PlanScaledCard& card) -> Json {
             return {{"bytes", card.bytes},
                     {"largest", or_null(card.largest)},
                     {"least", card.least},
                     {"most", card.most}};
         })}};
}

// `device` is a number among those of all processes.
Json answer_json(const Plan& plan)
{
    const PlanAnswer answer = plan.answer();
    if (!answer.device)
        return nullptr;
    std::size_t before = 0;
    for (const PlanProcess& process : plan.processes) {
        if (&process == answer.process)
            break;
        before += process.devices.size();
    }
    const auto at = static_cast<std::size_t>(answer.device - answer.process->devices.data());
    const PlanPolicy& judged = answer.device->policies.front();
    const bool known = answer.best != nullptr;
    const auto best = known ? answer.best - answer.device->policies.data() : 0;
    return {
        {"device", before + at},
        {"best", if_known(known, best)},
        {"needs", judged.smallest_card ? Json(smallest_card_words(judged, plan.cards)) : nullptr},
        {"helps", answer.helps},
        {"saved", answer.saved},
        {"missing", answer.missing}};
}

} // namespace

Json page_plan(const Plan& plan, PageTables& tables)
{
    Json devices = Json::array();
    for (const PlanProcess& process : plan.processes) {
        for (const PlanDevice& device : process.devices)
            devices.push_back(planned_device_json(process, device, tables));
    }
    return {
        {"verdict", name(plan.verdict)},
        {"cards", plan.cards},
        {"answer", answer_json(plan)},
        {"processes", plan.processes.size()},
        {"devices", std::move(devices)},
        {"scale", plan.scale ? planned_scale_json(*plan.scale, tables) : Json(nullptr)},
        {"unknown",
         tables.rows_of(sentences_about(plan), "sentences", [&](const PlanSentence& one) -> Json {
             return {{"about", tables.text(one.about)}, {"text", tables.text(one.text)}};
         })}};
}

} // namespace vramscope::report
