// report/plan/policies/block_heap.hpp — blocks that are cut and joined, and lists of the free ones.
//
// Blocks of one segment are linked in the order of their addresses; index 0 stands for none. A free
// block is in its pool's list, ordered by stream, size and address, so that the first that is large
// enough is the best fit, and the lowest address among equals. Nothing here asks a device.
#pragma once

#include <cstdint>
#include <deque>
#include <memory_resource>
#include <set>
#include <tuple>

#include "report/replay/lookup/slab.hpp"

namespace vramscope::report::plan {

using BlockIndex = std::uint32_t;

struct PlaceOfBlock {
    std::uint64_t bytes; // 0 in the list of what is not mapped: that is ordered by address
    std::uint64_t address;
    BlockIndex block;
    std::uint16_t stream;

    bool operator<(const PlaceOfBlock& other) const noexcept
    {
        return std::tie(stream, bytes, address) <
               std::tie(other.stream, other.bytes, other.address);
    }
};
using BlockList = std::pmr::set<PlaceOfBlock>;

struct HeapBlock {
    enum class State : std::uint8_t {
        live,
        pending, // freed, and queued work uses it
        free,
        unmapped, // addresses of an expandable range without memory
    };
    std::uint64_t address = 0, bytes = 0;
    BlockList::iterator place{}; // if it is free or unmapped
    std::uint64_t searches = 0;  // those of its pool until it became free
    BlockIndex previous = 0, next = 0;
    std::uint32_t range = 0; // number of its expandable range, from 1; 0: cudaMalloc's
    std::uint16_t stream = 0, pool = 0;
    State state = State::free;

    bool is_split() const noexcept { return previous != 0 || next != 0; }
    bool is_free() const noexcept { return state == State::free || state == State::unmapped; }
};

// PyTorch has one for small and one for large blocks, and more for CUDA graphs.
struct BlockPool {
    BlockList free, unmapped;
    std::uint64_t searches = 0;
    bool small = false;
};

class BlockHeap {
public:
    BlockHeap();

    HeapBlock& operator[](BlockIndex index) noexcept { return blocks_[index]; }
    const HeapBlock& operator[](BlockIndex index) const noexcept { return blocks_[index]; }

    // Its number is twice that of the private pool, and one more for small blocks. Added if needed.
    BlockPool& pool(std::uint8_t number, bool small) { return pools_[number_of(number, small)]; }
    std::uint16_t number_of(std::uint8_t number, bool small);
    BlockPool& pool_of(const HeapBlock& block) noexcept { return pools_[block.pool]; }
    std::deque<BlockPool>& pools() noexcept { return pools_; }
    const std::deque<BlockPool>& pools() const noexcept { return pools_; }

    // In no list yet, and between no neighbours.
    BlockIndex add(const HeapBlock& block);
    void remove(BlockIndex index) { blocks_.remove(index); }

    // Cuts it after `bytes`. The rest is a new block after it, as free as it is, and in no list.
    BlockIndex cut(BlockIndex index, std::uint64_t bytes);
    // Takes in the neighbours that are in the same state and of the same stream.
    void merge(BlockIndex index);

    void insert(BlockIndex index); // into its pool's list of its state
    void erase(BlockIndex index);  // from that

    std::uint64_t largest_free() const; // bytes of a block, in all pools

private:
    void merge_one(BlockIndex index, BlockIndex neighbour);
    BlockList& list_of(const HeapBlock& block);

    std::pmr::unsynchronized_pool_resource memory_;
    Slab<HeapBlock> blocks_;
    std::deque<BlockPool> pools_;
};

} // namespace vramscope::report::plan
