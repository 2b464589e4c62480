// report/page/maps.cpp — see maps.hpp.
#include "report/page/maps.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

int number_of(BlockState state)
{
    switch (state) {
    case BlockState::inactive:
        return 0;
    case BlockState::active_allocated:
        return 1;
    case BlockState::active_pending_free:
        return 2;
    }
    return 0;
}

// Each block is its size, the number of its state and that of its owner.
Json segment_json(const SegmentPieces& segment, std::size_t owners)
{
    Json sizes = Json::array();
    Json states = Json::array();
    Json owned_by = Json::array();
    for (const BlockPiece& block : segment.blocks) {
        sizes.push_back(block.bytes);
        states.push_back(number_of(block.state));
        if (block.owner < owners)
            owned_by.push_back(block.owner);
        else
            owned_by.push_back(-1);
    }
    return {{"address", fmt::format("{:#x}", segment.address)},
            {"bytes", segment.bytes},
            {"small", segment.small},
            {"sizes", std::move(sizes)},
            {"states", std::move(states)},
            {"owned_by", std::move(owned_by)}};
}

Json map_json(const PageMap& one, std::size_t pieces, PageTables& tables)
{
    const PoolMap& map = *one.map;
    Columns segments;
    std::size_t left_out = map.segments_left_out;
    for (const SegmentPieces& segment : map.segments) {
        if (segment.blocks.size() > pieces) {
            ++left_out;
            continue;
        }
        pieces -= segment.blocks.size();
        segments.add(segment_json(segment, tables.limits().rows));
    }
    return {
        {"moment", one.moment},
        {"of", tables.text(one.of)},
        {"ns", map.ns},
        {"largest_gap", map.largest_gap},
        {"left_out", left_out},
        {"segments", segments.take()},
        {"owners",
         tables.rows_of(
             map.owners, "owners of blocks in a map of segments", [&](const PieceOwner& owner) {
                 return tables.with_call({{"bytes", owner.bytes}, {"blocks", owner.blocks}}, owner);
             })}};
}

} // namespace

Json page_maps(const std::vector<PageMap>& maps, std::size_t pieces, PageTables& tables)
{
    Json all = Json::array();
    for (const PageMap& map : maps)
        all.push_back(map_json(map, pieces / maps.size(), tables));
    return all;
}

} // namespace vramscope::report
