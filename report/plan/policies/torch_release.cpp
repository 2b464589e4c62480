// report/plan/policies/torch_release.cpp — PyTorch's own allocator: what it gives back, and when.
#include "report/plan/policies/torch.hpp"

namespace vramscope::report::plan {

// Before more is taken: beyond the threshold, whole segments that were not asked for longer than
// most go back. What is expandable does not.
void TorchPolicy::collect_garbage()
{
    const double threshold = options_.pool.garbage_collection_threshold;
    if (threshold <= 0 || allowed_ == CountedDevice::kNoLimit)
        return;
    const auto most = static_cast<std::uint64_t>(threshold * static_cast<double>(allowed_));
    if (device_.reserved() <= most)
        return;
    const std::uint64_t wanted = device_.reserved() - most;
    BlockPool& pool = heap_.pool(0, false);
    const auto age = [&](const HeapBlock& block) { return pool.searches - block.searches; };
    std::uint64_t total_age = 0, count = 0;
    for (const PlaceOfBlock& place : pool.free) {
        if (heap_[place.block].is_split())
            continue;
        total_age += age(heap_[place.block]);
        ++count;
    }
    std::uint64_t reclaimed = 0;
    for (bool released = true; released && reclaimed < wanted && count > 0;) {
        const double least_age = static_cast<double>(total_age) / static_cast<double>(count);
        released = false;
        for (auto at = pool.free.begin(); at != pool.free.end();) {
            const BlockIndex index = (at++)->block;
            const HeapBlock& block = heap_[index];
            if (block.is_split() || block.range || static_cast<double>(age(block)) < least_age)
                continue;
            released = true;
            reclaimed += block.bytes;
            total_age -= age(block);
            --count;
            release(index);
        }
    }
}

// With a max_split_size: one block that is large enough goes back, or else the largest ones until
// that is enough. False: they are not.
bool TorchPolicy::release_oversize(const Wanted& wanted)
{
    const std::uint64_t most_split = options_.pool.max_split_bytes;
    if (most_split == pool::kNoLimit)
        return false;
    BlockList& list = wanted.pool.free;
    const std::uint64_t least = std::max(wanted.bytes, most_split);
    auto at = list.lower_bound({least, 0, 0, wanted.stream});
    if (at != list.end() && at->stream == wanted.stream && !heap_[at->block].range) {
        release(at->block);
        return true;
    }
    std::uint64_t released = 0;
    while (released < least && at != list.begin()) {
        --at;
        if (at->bytes < most_split || at->stream != wanted.stream)
            break;
        if (heap_[at->block].range)
            continue;
        released += at->bytes;
        const BlockIndex block = at->block;
        ++at; // it stays valid, and the next before it is looked at
        release(block);
    }
    return released >= least;
}

// The device is waited for, and what no block lives in goes back.
void TorchPolicy::release_cached()
{
    make_pending_free();
    release_unsplit(heap_.pool(0, false));
    release_unsplit(heap_.pool(0, true));
}

void TorchPolicy::release_unsplit(BlockPool& pool)
{
    std::vector<BlockIndex> to_unmap; // which changes the list
    for (auto at = pool.free.begin(); at != pool.free.end();) {
        const BlockIndex block = (at++)->block;
        if (heap_[block].range)
            to_unmap.push_back(block);
        else if (!heap_[block].is_split())
            release(block);
    }
    for (const BlockIndex block : to_unmap)
        unmap(block);
}

void TorchPolicy::release(BlockIndex block)
{
    heap_.erase(block);
    device_.release(heap_[block].address, heap_[block].bytes);
    heap_.remove(block);
}

} // namespace vramscope::report::plan
