// report/plan/policies/torch_expandable.cpp — PyTorch's own allocator: expandable_segments.
//
// A range of addresses for each stream and pool, an eighth longer than the device, in which pages
// are mapped where blocks need them: 2 MiB for small blocks, 20 MiB for large ones.
#include "interpose/pool/rounding.hpp"
#include "report/plan/policies/torch.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kManyAddresses = std::uint64_t{1}
                                         << 44; // bytes, for a device without a limit

} // namespace

// A block that can grow counts with what it could grow to, so that inner blocks come first.
BlockList::iterator TorchPolicy::prefer_inner(BlockList::iterator found,
                                              const BlockPool& pool) const
{
    const auto could_be = [&](const PlaceOfBlock& place) {
        const BlockIndex next = heap_[place.block].next;
        const bool grows = next && heap_[next].state == State::unmapped;
        return place.bytes + (grows ? heap_[next].bytes : 0);
    };
    auto next = found;
    ++next;
    while (heap_[found->block].range && next != pool.free.end() && next->stream == found->stream &&
           could_be(*next) < could_be(*found))
        found = next++;
    return found;
}

BlockIndex TorchPolicy::expand(const Wanted& wanted)
{
    BlockIndex block = find_addresses(wanted);
    if (!block)
        return 0;
    if (heap_[block].state == State::unmapped &&
        !map(block, std::min(heap_[block].bytes, wanted.bytes)))
        return 0;
    while (heap_[block].bytes < wanted.bytes) {
        const BlockIndex behind = heap_[block].next; // it takes in the block before it
        const std::uint64_t missing = wanted.bytes - heap_[block].bytes;
        if (!map(behind, std::min(missing, heap_[behind].bytes)))
            return 0;
        block = behind;
    }
    heap_.erase(block);
    return block;
}

// The lowest free and unmapped addresses in a row that are enough.
BlockIndex TorchPolicy::find_addresses(const Wanted& wanted)
{
    const BlockList& list = wanted.pool.unmapped;
    for (auto at = list.lower_bound({0, 0, 0, wanted.stream});
         at != list.end() && at->stream == wanted.stream; ++at) {
        const BlockIndex before = heap_[at->block].previous;
        const BlockIndex first = before && heap_[before].is_free() ? before : at->block;
        if (has_addresses(first, wanted.bytes))
            return first;
    }
    return reserve_range(wanted);
}

bool TorchPolicy::has_addresses(BlockIndex block, std::uint64_t bytes) const
{
    std::uint64_t found = 0;
    for (; block && found < bytes && heap_[block].is_free(); block = heap_[block].next)
        found += heap_[block].bytes;
    return found >= bytes;
}

BlockIndex TorchPolicy::reserve_range(const Wanted& wanted)
{
    const std::uint64_t page =
        wanted.pool.small ? pool::kSmallSegment : options_.large_segment_bytes;
    const std::uint64_t total = device_.total();
    const std::uint64_t bytes =
        pool::round_up(total == CountedDevice::kNoLimit ? kManyAddresses : total + total / 8, page);
    if (bytes < wanted.bytes)
        return 0;
    const std::uint64_t address = device_.reserve(bytes);
    ranges_.push_back({address, bytes, page});
    const BlockIndex block = heap_.add({.address = address,
                                        .bytes = bytes,
                                        .range = static_cast<std::uint32_t>(ranges_.size()),
                                        .stream = wanted.stream,
                                        .pool = wanted.number,
                                        .state = State::unmapped});
    heap_.insert(block);
    return block;
}

// Gives at least the first `bytes` of an unmapped block their memory: whole pages, or none. What
// is free around them becomes part of the block.
bool TorchPolicy::map(BlockIndex block, std::uint64_t bytes)
{
    const std::uint64_t page = ranges_[heap_[block].range - 1].page;
    const std::uint64_t mapped = pool::round_up(bytes, page);
    if (!device_.map(heap_[block].address, mapped, mapped / page))
        return false;
    heap_.erase(block);
    if (mapped < heap_[block].bytes)
        heap_.insert(heap_.cut(block, mapped));
    make_free(block);
    return true;
}

// Gives back the whole pages of a free block.
void TorchPolicy::unmap(BlockIndex block)
{
    const Range& range = ranges_[heap_[block].range - 1];
    const std::uint64_t begin = heap_[block].address - range.address;
    const std::uint64_t first = pool::round_up(begin, range.page);
    const std::uint64_t end = (begin + heap_[block].bytes) / range.page * range.page;
    if (first >= end)
        return;
    heap_.erase(block);
    if (first > begin) {
        const BlockIndex pages = heap_.cut(block, first - begin);
        heap_.insert(block);
        block = pages;
    }
    if (heap_[block].bytes > end - first)
        heap_.insert(heap_.cut(block, end - first));
    device_.release(heap_[block].address, end - first, (end - first) / range.page);
    heap_[block].state = State::unmapped;
    heap_.merge(block);
    if (heap_[block].is_split())
        heap_.insert(block);
    else
        heap_.remove(block); // the range goes with its last page
}

} // namespace vramscope::report::plan
