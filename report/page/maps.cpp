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

Json map_json(const PageMap& one, std::size_t pieces, std::size_t rows)
{
    const PoolMap& map = *one.map;
    Json segments = Json::array();
    std::size_t left_out = map.segments_left_out;
    for (const SegmentPieces& segment : map.segments) {
        if (segment.blocks.size() > pieces || segments.size() == rows) {
            ++left_out;
            continue;
        }
        pieces -= segment.blocks.size();
        segments.push_back(segment_json(segment, rows));
    }
    Json owners = Json::array();
    for (const PieceOwner& owner : map.owners) {
        Json& row = owners.emplace_back(
            Json{{"bytes", owner.bytes}, {"blocks", owner.blocks}, {"api", owner.api}});
        add_members(row, owner, kStack, Audience::page);
    }
    return {
        {"moment", one.moment},           {"of", one.of},         {"ns", map.ns},
        {"largest_gap", map.largest_gap}, {"left_out", left_out}, {"segments", std::move(segments)},
        {"owners", std::move(owners)}};
}

} // namespace

Json maps_json(const std::vector<PageMap>& maps, std::size_t pieces, std::size_t rows)
{
    Json all = Json::array();
    for (const PageMap& map : maps)
        all.push_back(map_json(map, pieces / maps.size(), rows));
    return all;
}

} // namespace vramscope::report
