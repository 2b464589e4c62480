// report/plan/policies/rmm_pool.hpp — RMM's pool_memory_resource.
//
// A list of free blocks for each stream, with the best fit always cut. What a stream lacks it takes
// from the lists of others, then joins these with its own one by one, and then the pool grows by
// what it has. Nothing goes back to the driver.
#pragma once

#include <optional>

#include "report/plan/policies/block_heap.hpp"
#include "report/plan/policies/driver_pages.hpp"

namespace vramscope::report::plan {

struct RmmOptions {
    std::uint64_t initial_bytes = 0;
    std::optional<std::uint64_t> most_bytes; // maximum_pool_size: it then grows by half of the rest
};

class RmmPool {
public:
    RmmPool(CountedDevice& device, const RmmOptions& options);

    BlockIndex allocate(std::uint64_t bytes, std::uint16_t stream); // 0: out of memory
    void free(BlockIndex block, std::uint16_t stream);

    const HeapBlock& operator[](BlockIndex block) const noexcept { return heap_[block]; }
    std::uint64_t largest_free() const;

private:
    BlockList& free_list() { return heap_.pools().front().free; }
    BlockIndex best_fit(std::uint64_t bytes, std::uint16_t stream);
    BlockIndex from_others(std::uint64_t bytes, std::uint16_t stream);
    BlockIndex join_with_others(std::uint64_t bytes, std::uint16_t stream);
    void make_free(BlockIndex block, std::uint16_t stream);
    BlockIndex grow(std::uint64_t bytes, std::uint16_t stream);
    std::uint64_t to_grow(std::uint64_t bytes) const;
    bool add_segment(std::uint64_t bytes, std::uint16_t stream);

    DriverPages pages_;
    const RmmOptions options_;
    BlockHeap heap_;
    std::uint64_t bytes_ = 0; // what the pool has of the device's memory
};

} // namespace vramscope::report::plan
