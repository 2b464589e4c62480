// report/json/memory.cpp — every number that the text has, exact.
#include "report/json/memory.hpp"

#include "report/model/leaks.hpp"

namespace vramscope::report {
namespace {

Json moment_json(const MemoryMoment& moment)
{
    return {{"ns", moment.ns}, {"waterfall", waterfall_json(moment.parts)}};
}

Json marked_json(const MarkedMoment& moment)
{
    Json json = moment_json(moment);
    json["mark"] = moment.mark;
    return json;
}

Json pieces_json(const FreePieces& free)
{
    return {{"bytes", free.bytes},
            {"pieces", free.pieces},
            {"largest", free.largest},
            {"largest_request", free.largest_request},
            {"unusable_for_largest_request", free.unusable_for_largest},
            {"unusable_mean", free.unusable_mean}};
}

Json stat_json(const Stat& stat)
{
    return {{"current", stat.current},
            {"peak", stat.peak},
            {"allocated", stat.allocated},
            {"freed", stat.freed}};
}

Json retry_json(const RetryPlace& place)
{
    return with_stack({{"retries", place.retries},
                       {"most_requested_bytes", place.most_requested},
                       {"api", place.api},
                       {"entry_point", place.entry_point}},
                      place);
}

Json allocator_json(const AllocatorMemory& allocator)
{
    return {{"name", allocator.name},
            {"reserved_bytes", stat_json(allocator.reserved)},
            {"allocated_bytes", stat_json(allocator.allocated)},
            {"blocks", stat_json(allocator.blocks)},
            {"active_bytes", allocator.active ? stat_json(*allocator.active) : Json(nullptr)},
            {"num_alloc_retries", allocator.retries},
            {"retried_at", list_json(allocator.retried_at, retry_json)}};
}

Json holder_json(const MemoryHolder& holder)
{
    return {{"kind", name(holder.kind)},
            {"name", or_null(holder.name)},
            {"library", or_null(holder.library)},
            {"bytes", holder.bytes},
            {"blocks", holder.blocks}};
}

Json part_json(const PeakPart& part)
{
    return {{"name", or_null(part.name)}, {"bytes", part.bytes}, {"blocks", part.blocks}};
}

Json peak_stack_json(const PeakStack& row)
{
    return with_stack({{"bytes", row.bytes},
                       {"blocks", row.blocks},
                       {"memory", name(row.memory)},
                       {"api", row.api},
                       {"entry_point", row.entry_point},
                       {"phase", or_null(row.phase)}},
                      row);
}

Json peak_json(const Peak& peak)
{
    return {
        {"bytes", peak.bytes},
        {"blocks", peak.blocks},
        {"stacks", list_json(peak.stacks, peak_stack_json)},
        {"more",
         {{"stacks", peak.more_stacks}, {"bytes", peak.more_bytes}, {"blocks", peak.more_blocks}}},
        {"modules", list_json(peak.modules, part_json)},
        {"phases", list_json(peak.phases, part_json)},
        {"apis", list_json(peak.apis, part_json)}};
}

Json memory_time_json(const MemoryTime& time)
{
    return {{"ns", time.ns},
            {"allocated_bytes", time.allocated},
            {"active_bytes", time.active},
            {"reserved_bytes", time.reserved},
            {"used_bytes", or_null(time.used)},
            {"peak_allocated_bytes", time.peak_allocated},
            {"peak_reserved_bytes", time.peak_reserved}};
}

Json advice_json(const Advice& advice)
{
    return with_stack({{"kind", name(advice.kind)},
                       {"saving_bytes", advice.saving},
                       {"blocks", advice.blocks},
                       {"block_bytes", if_known(advice.bytes > 0, advice.bytes)},
                       {"phase", or_null(advice.phase)},
                       {"other_phase", or_null(advice.other_phase)},
                       {"api", advice.api},
                       {"entry_point", advice.entry_point}},
                      advice);
}

} // namespace

Json waterfall_json(const Waterfall& parts)
{
    return {{"device_used", if_known(parts.used_known, parts.used)},
            {"unattributed", if_known(parts.used_known, parts.unattributed)},
            {"reserved", parts.reserved},
            {"releasable", parts.releasable},
            {"stuck", parts.stuck},
            {"pending", parts.pending},
            {"kept", parts.kept},
            {"allocated", parts.allocated},
            {"internal", parts.internal},
            {"requested", parts.requested},
            {"direct", parts.direct}};
}

Json device_memory_json(const MemoryReport& device)
{
    return {{"device", ordinal_json(device.device)},
            {"total_bytes", if_known(device.total_bytes > 0, device.total_bytes)},
            {"pooled", device.pooled},
            {"at_peak", moment_json(device.at_peak)},
            {"at_reserved_peak", moment_json(device.at_reserved_peak)},
            {"at_end", moment_json(device.at_end)},
            {"at_marks", list_json(device.at_marks, marked_json)},
            {"utilisation_of_peaks", device.utilisation_of_peaks()},
            {"utilisation_at_reserved_peak", device.utilisation_at_reserved_peak()},
            {"free_at_pool_peak", if_known(device.pooled, pieces_json(device.free_at_peak))},
            {"free_at_end", if_known(device.pooled, pieces_json(device.free_at_end))},
            {"requested_bytes", stat_json(device.requested)},
            {"blocks", stat_json(device.blocks)},
            {"allocators", list_json(device.allocators, allocator_json)},
            {"holders_at_peak", list_json(device.holders_at_peak, holder_json)},
            {"holders_at_end", list_json(device.holders_at_end, holder_json)},
            {"peak_direct_bytes", device.peak_direct},
            {"peak", peak_json(device.peak)},
            {"timeline", list_json(device.timeline, memory_time_json)},
            {"advice", list_json(device.advice, advice_json)}};
}

} // namespace vramscope::report
