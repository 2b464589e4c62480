// report/json/plan.cpp — a plan for machines, as plan.schema.json says.
#include "report/model/plan.hpp"

#include "report/json/documents.hpp"
#include "report/json/parts.hpp"
#include "report/words/file_words.hpp"

namespace vramscope::report {
namespace {

constexpr const char* kPlanSchemaVersion = "1.1.0";

Json place_members(const CallPlace& place)
{
    return {{"fingerprint", or_null(place.fingerprint)},
            {"api", place.api},
            {"entry_point", or_null(place.entry_point)}};
}

Json with_place(Json row, const CallPlace& place)
{
    row.update(place_members(place));
    return with_stack(std::move(row), place);
}

Json pin_json(const PlanPin& pin)
{
    return with_place({{"pinned_bytes", pin.pinned},
                       {"bytes", pin.bytes},
                       {"blocks", pin.blocks},
                       {"segments", pin.segments}},
                      pin);
}

Json planned_shortage_json(const PlanShortage& shortage)
{
    return with_place({{"at_ns", shortage.at_ns},
                       {"requested_bytes", shortage.requested},
                       {"reserved_bytes", shortage.reserved},
                       {"allocated_bytes", shortage.allocated},
                       {"beside_bytes", shortage.beside},
                       {"largest_free_bytes", shortage.largest_free},
                       {"is_beside", shortage.is_beside},
                       {"would_make_room", list_json(shortage.would_make_room, pin_json)}},
                      shortage);
}

Json card_json(const PlanCard& card)
{
    return {
        {"bytes", card.bytes},
        {"fits", card.fits},
        {"retries", card.retries},
        {"shortages", card.shortages},
        {"first_shortage", card.shortage ? planned_shortage_json(*card.shortage) : Json(nullptr)}};
}

Json policy_json(const PlanPolicy& policy)
{
    return {{"name", policy.name},
            {"words", policy.words},
            {"unsure", or_null(policy.unsure)},
            {"recorded", policy.recorded},
            {"peak_reserved_bytes", policy.peak_reserved},
            {"allocated_bytes_then", policy.allocated_then},
            {"requested_bytes_then", policy.requested_then},
            {"fragmentation", policy.fragmentation()},
            {"device_calls", policy.device_calls},
            {"searched", policy.searched},
            {"smallest_card_bytes", or_null(policy.smallest_card)},
            {"fails_above_bytes", or_null(policy.fails_above)},
            {"cards", list_json(policy.cards, card_json)}};
}

Json planned_holder_json(const PlanHolder& holder)
{
    return with_place(
        {{"bytes", holder.bytes}, {"blocks", holder.blocks}, {"phase", or_null(holder.phase)}},
        holder);
}

Json saving_json(const PlanSaving& saving)
{
    return with_place({{"kind", name(saving.kind)},
                       {"bytes", saving.bytes},
                       {"blocks", saving.blocks},
                       {"phase", or_null(saving.phase)},
                       {"saves_reserved_bytes", saving.saves_reserved},
                       {"saves_live_bytes", saving.saves_live}},
                      saving);
}

Json sharing_json(const PlanSharing& sharing)
{
    return {{"first", planned_holder_json(sharing.first)},
            {"second", planned_holder_json(sharing.second)},
            {"buffer_bytes", sharing.bytes},
            {"live_at_once", sharing.at_once},
            {"saves_reserved_bytes", sharing.saves_reserved}};
}

Json packing_json(const PlanPacking& packing)
{
    return {{"lower_bytes", packing.lower},
            {"upper_bytes", packing.upper},
            {"blocks", packing.blocks},
            {"method", packing.method}};
}

Json planned_device_json(const PlanDevice& device)
{
    return {{"device", ordinal_json(device.device)},
            {"device_bytes", if_known(device.device_bytes > 0, device.device_bytes)},
            {"base_bytes", if_known(device.base_known, device.base)},
            {"requests", device.requests},
            {"live_peak_bytes", device.live_peak},
            {"live_peak_ns", device.live_peak_ns},
            {"beside_peak_bytes", device.beside_peak},
            {"recorded_reserved_bytes", device.recorded_reserved},
            {"policies", list_json(device.policies, policy_json)},
            {"holders", list_json(device.holders, planned_holder_json)},
            {"more_holders", device.more_holders},
            {"more_holder_bytes", device.more_bytes},
            {"savings", list_json(device.savings, saving_json)},
            {"sharing", list_json(device.sharing, sharing_json)},
            {"packing", device.packing ? packing_json(*device.packing) : Json(nullptr)},
            {"recorded_failure",
             device.recorded_failure ? card_json(*device.recorded_failure) : Json(nullptr)},
            {"pinned_at_peak", list_json(device.pins_at_peak, pin_json)},
            {"pinned_at_end", list_json(device.pins_at_end, pin_json)},
            {"unknown", device.unknown}};
}

Json planned_process_json(const PlanProcess& process)
{
    return {{"pid", process.pid},
            {"program", or_null(process.program)},
            {"log", process.log.string()},
            {"allocator", or_null(process.allocator)},
            {"pool_mode", or_null(process.pool_mode)},
            {"doubts", process.doubts},
            {"devices", list_json(process.devices, planned_device_json)}};
}

Json line_json(const PlanLine& line)
{
    return {{"fixed_bytes", line.fixed}, {"each_bytes", line.each}, {"error_bytes", line.error}};
}

Json scale_json(const PlanScale& scale)
{
    const auto stack = [](const PlanScaledStack& row) {
        return with_place({{"line", line_json(row.line)}, {"bytes", row.bytes}}, row);
    };
    const auto card = [](const PlanScaledCard& row) -> Json {
        return {{"bytes", row.bytes},
                {"largest", or_null(row.largest)},
                {"least", if_known(row.largest.has_value(), row.least)},
                {"most", if_known(row.largest.has_value(), row.most)}};
    };
    return {{"dimension", scale.dimension},
            {"values", scale.values},
            {"live_bytes", scale.live},
            {"card_bytes", scale.reserved},
            {"live_line", line_json(scale.live_line)},
            {"card_line", line_json(scale.reserved_line)},
            {"stacks", list_json(scale.stacks, stack)},
            {"cards", list_json(scale.cards, card)}};
}

} // namespace

Json plan_json(const Plan& plan, Audience audience)
{
    std::vector<std::string> notices = plan.notices;
    for (const UnreadFile& file : plan.unread_files)
        notices.push_back(notice_of(file));
    return {{"schema_version", kPlanSchemaVersion},
            {"verdict", name(plan.verdict)},
            {"exit_status", plan.exit_status()},
            {"interrupted", plan.interrupted},
            {"cards", plan.cards},
            {"processes", list_json(plan.processes, planned_process_json)},
            {"scale", plan.scale ? scale_json(*plan.scale) : Json(nullptr)},
            {"notices", notices}};
}

} // namespace vramscope::report
