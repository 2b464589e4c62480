// report/plan/policies/block_heap.cpp — blocks that are cut and joined, and lists of the free ones.
#include "report/plan/policies/block_heap.hpp"

#include <algorithm>

namespace vramscope::report::plan {

BlockHeap::BlockHeap()
{
    blocks_.add(HeapBlock{}); // index 0 stands for none
}

std::uint16_t BlockHeap::number_of(std::uint8_t number, bool small)
{
    const auto result = static_cast<std::uint16_t>(2 * number + (small ? 1 : 0));
    while (pools_.size() <= result)
        pools_.push_back({.free = BlockList(&memory_),
                          .unmapped = BlockList(&memory_),
                          .small = pools_.size() % 2 == 1});
    return result;
}

BlockIndex BlockHeap::add(const HeapBlock& block)
{
    return static_cast<BlockIndex>(blocks_.add(block));
}

BlockIndex BlockHeap::cut(BlockIndex index, std::uint64_t bytes)
{
    HeapBlock rest = blocks_[index];
    rest.address += bytes;
    rest.bytes -= bytes;
    rest.previous = index;
    const BlockIndex added = add(rest);
    if (rest.next)
        blocks_[rest.next].previous = added;
    blocks_[index].bytes = bytes;
    blocks_[index].next = added;
    return added;
}

void BlockHeap::merge(BlockIndex index)
{
    merge_one(index, blocks_[index].previous);
    merge_one(index, blocks_[index].next);
}

void BlockHeap::merge_one(BlockIndex index, BlockIndex neighbour)
{
    HeapBlock& block = blocks_[index];
    if (!neighbour || blocks_[neighbour].state != block.state ||
        blocks_[neighbour].stream != block.stream)
        return;
    erase(neighbour);
    const HeapBlock& other = blocks_[neighbour];
    block.bytes += other.bytes;
    if (block.previous == neighbour) {
        block.address = other.address;
        block.previous = other.previous;
        if (block.previous)
            blocks_[block.previous].next = index;
    } else {
        block.next = other.next;
        if (block.next)
            blocks_[block.next].previous = index;
    }
    blocks_.remove(neighbour);
}

BlockList& BlockHeap::list_of(const HeapBlock& block)
{
    BlockPool& pool = pools_[block.pool];
    return block.state == HeapBlock::State::unmapped ? pool.unmapped : pool.free;
}

void BlockHeap::insert(BlockIndex index)
{
    HeapBlock& block = blocks_[index];
    const bool unmapped = block.state == HeapBlock::State::unmapped;
    block.searches = pools_[block.pool].searches;
    block.place = list_of(block)
                      .insert({unmapped ? 0 : block.bytes, block.address, index, block.stream})
                      .first;
}

void BlockHeap::erase(BlockIndex index)
{
    list_of(blocks_[index]).erase(blocks_[index].place);
}

std::uint64_t BlockHeap::largest_free() const
{
    std::uint64_t largest = 0;
    for (const BlockPool& pool : pools_)
        for (const PlaceOfBlock& place : pool.free)
            largest = std::max(largest, place.bytes);
    return largest;
}

} // namespace vramscope::report::plan
