// report/replay/allocators.cpp — see allocators.hpp.
#include "report/replay/allocators.hpp"

#include <set>
#include <utility>

namespace vramscope::report {

PoolSnapshot pieces_of(HeapReplay& heap, std::uint64_t api, std::int32_t device)
{
    std::vector<SegmentPieces> segments;
    for (const AllocatorSegment& one : heap.segments_now()) {
        if (one.api == api && one.device == device)
            segments.push_back({one.address, one.bytes, 0, false, {}});
    }
    SnapshotBlocks blocks;
    heap.for_each_alive([&](const Block& block) {
        if (block.api != api || block.device != device)
            return;
        blocks.add({.address = block.address,
                    .bytes = block.bytes,
                    .requested = block.bytes,
                    .state = BlockState::active_allocated},
                   {block.stack, block.ticks, block.api});
    });
    return blocks.take(std::move(segments));
}

std::vector<AllocatorPieces> allocators_now(HeapReplay& heap)
{
    std::vector<AllocatorPieces> all;
    if (!heap.is_cut())
        return all;
    std::set<std::pair<std::uint64_t, std::int32_t>> found;
    for (const AllocatorSegment& one : heap.segments_now())
        found.emplace(one.api, one.device);
    for (const auto& [api, device] : found)
        all.push_back({api, device, pieces_of(heap, api, device)});
    return all;
}

} // namespace vramscope::report
