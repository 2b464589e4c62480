// report/json/pool.cpp — the pool in JSON, as PyTorch shows its own.
//
// Statistics are named as in torch.cuda.memory_stats(), maps are as in PyTorch's memory snapshots.
#include "report/json/pool.hpp"

#include <string>

#include <fmt/format.h>

#include "report/json/memory.hpp"

namespace vramscope::report {
namespace {

void add(Json& stats, const std::string& key, const Stat& stat)
{
    stats[key + ".current"] = stat.current;
    stats[key + ".peak"] = stat.peak;
    stats[key + ".allocated"] = stat.allocated;
    stats[key + ".freed"] = stat.freed;
}

Json stats_json(const PoolStats& stats)
{
    Json all = Json::object();
    for (const NamedPoolStat& named : kPoolStats) {
        const PoolStat& stat = stats.*named.stat;
        const std::string key = named.key;
        add(all, key + ".all", stat.all);
        add(all, key + ".large_pool", stat.large_pool);
        add(all, key + ".small_pool", stat.small_pool);
    }
    add(all, "oversize_allocations", stats.oversize_allocations);
    add(all, "oversize_segments", stats.oversize_segments);
    all["num_alloc_retries"] = stats.num_alloc_retries;
    all["num_ooms"] = stats.num_ooms;
    all["num_sync_all_streams"] = stats.num_sync_all_streams;
    all["num_device_alloc"] = stats.num_device_alloc;
    all["num_device_free"] = stats.num_device_free;
    return all;
}

Json block_json(const BlockPiece& block)
{
    return {{"address", fmt::format("{:#x}", block.address)},
            {"size", block.bytes},
            {"requested_size", block.requested},
            {"state", name(block.state)}};
}

Json segment_json(const SegmentPieces& segment)
{
    std::uint64_t allocated = 0;
    std::uint64_t active = 0;
    std::uint64_t requested = 0;
    for (const BlockPiece& block : segment.blocks) {
        const bool live = block.state == BlockState::active_allocated;
        allocated += live ? block.bytes : 0;
        requested += live ? block.requested : 0;
        active += block.state == BlockState::inactive ? 0 : block.bytes;
    }
    return {{"address", fmt::format("{:#x}", segment.address)},
            {"total_size", segment.bytes},
            {"allocated_size", allocated},
            {"active_size", active},
            {"requested_size", requested},
            {"segment_type", segment.small ? "small" : "large"},
            {"context", if_known(segment.context > 0, segment.context)},
            {"blocks", list_json(segment.blocks, block_json)}};
}

Json map_json(const PoolMap& map)
{
    return {{"ns", map.ns},
            {"largest_gap", map.largest_gap},
            {"segments", list_json(map.segments, segment_json)},
            {"segments_left_out", map.segments_left_out}};
}

Json pool_time_json(const MemoryTime& time)
{
    return {{"ns", time.ns},
            {"allocated_bytes", time.allocated},
            {"active_bytes", time.active},
            {"reserved_bytes", time.reserved},
            {"peak_allocated_bytes", time.peak_allocated},
            {"peak_reserved_bytes", time.peak_reserved}};
}

Json device_json(const PoolDevice& device)
{
    return {{"device", ordinal_json(device.device)},
            {"memory_stats", stats_json(device.stats)},
            {"timeline", list_json(device.timeline, pool_time_json)},
            {"at_peak", map_json(device.at_peak)},
            {"at_end", map_json(device.at_end)}};
}

Json owner_json(const Leak& owner)
{
    return with_stack({{"bytes", owner.bytes},
                       {"blocks", owner.blocks},
                       {"memory", name(owner.memory)},
                       {"api", owner.api},
                       {"entry_point", owner.entry_point}},
                      owner);
}

} // namespace

Json pool_json(const PoolReport& pool)
{
    if (!pool.known && pool.mode.empty())
        return nullptr;
    Json settings = Json::object();
    for (const auto& [key, value] : pool.settings)
        settings[key] = value;
    return {{"mode", or_null(pool.mode)},
            {"settings", settings},
            {"known", pool.known},
            {"devices", list_json(pool.devices, device_json)},
            {"allocations_outside_segments", pool.outside}};
}

Json shortage_json(const Shortage& shortage)
{
    const bool pooled = shortage.pooled;
    const bool looked_at = pooled && shortage.owners_known;
    Json row = with_stack(
        {{"api", shortage.api},
         {"entry_point", shortage.entry_point},
         {"at_ns", shortage.at_ns},
         {"device", ordinal_json(shortage.device)},
         {"requested_bytes", shortage.requested},
         {"requested_at_least", shortage.at_least},
         {"free_bytes", if_known(shortage.free_known(), shortage.free)},
         {"total_bytes", if_known(shortage.total > 0, shortage.total)},
         {"held_bytes", if_known(shortage.owners_known, shortage.held)},
         {"allocated_bytes", if_known(pooled, shortage.allocated)},
         {"reserved_bytes", if_known(pooled, shortage.reserved)},
         {"largest_gap", if_known(pooled, shortage.largest_gap)},
         {"retries", shortage.retries},
         {"waterfall", waterfall_json(shortage.parts)},
         {"free_pieces", if_known(looked_at, shortage.free_pieces)},
         {"free_piece_bytes", if_known(looked_at, shortage.free_bytes)},
         {"unusable_index", if_known(looked_at, shortage.unusable)},
         {"fragmentation_index", if_known(looked_at, shortage.fragmentation)},
         {"map", or_null(shortage.map)},
         {"verdict", name(shortage.kind)},
         {"short_by", if_known(shortage.short_by > 0, shortage.short_by)},
         {"estimated", shortage.estimated},
         {"owners", shortage.owners_known ? list_json(shortage.owners, owner_json) : Json(nullptr)},
         {"process", shortage.process}},
        shortage);
    if (!shortage.remedy.empty())
        row["remedy"] = shortage.remedy;
    return row;
}

} // namespace vramscope::report
