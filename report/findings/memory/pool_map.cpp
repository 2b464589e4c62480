// report/findings/memory/pool_map.cpp — calls that a reader cannot tell apart are one owner.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/findings/memory/memory.hpp"

namespace vramscope::report {
namespace {

struct NumberedOwner {
    PieceOwner row;
    std::size_t number = 0;
};

// `number_of`: the first number of a call's owner.
std::vector<NumberedOwner> read_owners(const std::vector<PieceCall>& calls,
                                       std::vector<std::size_t>& number_of, StackReader& stacks)
{
    std::vector<NumberedOwner> owners;
    std::map<std::string, std::size_t> known;
    for (const PieceCall& call : calls) {
        CallPlace place = stacks.read(call.api, call.stack, call.ticks);
        const auto [found, added] = known.try_emplace(place.key(), owners.size());
        if (added) {
            owners.push_back({{}, owners.size()});
            static_cast<CallPlace&>(owners.back().row) = std::move(place);
        } else {
            owners[found->second].row.merge(place);
        }
        number_of.push_back(found->second);
    }
    return owners;
}

void name_owners(PoolMap& map, const std::vector<PieceCall>& calls, StackReader& stacks)
{
    std::vector<std::size_t> number_of;
    std::vector<NumberedOwner> owners = read_owners(calls, number_of, stacks);
    const auto for_each_owned = [&map](auto visit) {
        for (SegmentPieces& segment : map.segments)
            for (BlockPiece& piece : segment.blocks)
                if (piece.owner != kNoOwner)
                    visit(piece);
    };
    for_each_owned([&](const BlockPiece& piece) {
        PieceOwner& owner = owners[number_of[piece.owner]].row;
        owner.bytes += piece.bytes;
        ++owner.blocks;
    });
    std::stable_sort(
        owners.begin(), owners.end(), [](const NumberedOwner& a, const NumberedOwner& b) {
            return std::tie(b.row.bytes, b.row.blocks) < std::tie(a.row.bytes, a.row.blocks);
        });
    std::vector<std::uint32_t> rank_of(owners.size());
    for (std::size_t rank = 0; rank < owners.size(); ++rank) {
        rank_of[owners[rank].number] = static_cast<std::uint32_t>(rank);
        map.owners.push_back(std::move(owners[rank].row));
    }
    for_each_owned([&](BlockPiece& piece) { piece.owner = rank_of[number_of[piece.owner]]; });
}

void forget_owners(PoolMap& map)
{
    for (SegmentPieces& segment : map.segments)
        for (BlockPiece& piece : segment.blocks)
            piece.owner = kNoOwner;
}

} // namespace

PoolMap map_of(PoolSnapshot&& snapshot, std::uint64_t ns, StackReader* stacks)
{
    snapshot.cut();
    PoolMap map;
    map.ns = ns;
    map.segments_left_out = snapshot.segments_left_out;
    map.segments = std::move(snapshot.segments);
    if (stacks)
        name_owners(map, snapshot.calls, *stacks);
    else
        forget_owners(map);
    return map;
}

} // namespace vramscope::report
