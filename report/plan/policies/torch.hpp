// report/plan/policies/torch.hpp — PyTorch's own allocator, with its knobs.
//
// The rules are those of versions 2.0 to 2.9; large segments have the size that 2.11 gives them.
// The policy is given the order of the requests alone: a block that other streams used becomes free
// at its `ready`, as a recording says. Private pools, such as those of CUDA graphs, are kept until
// the end, since a trace does not tell when a graph is destroyed.
#pragma once

#include <optional>
#include <string_view>

#include "interpose/pool/options.hpp"
#include "report/plan/policies/block_heap.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

struct TorchOptions {
    pool::Options pool;                         // the knobs that our own pool has too
    std::uint64_t most_waste_bytes = 20u << 20; // max_non_split_rounding_mb
    std::uint64_t large_segment_bytes = 20u << 20;
    // per_process_memory_fraction; without it garbage_collection_threshold does nothing.
    std::optional<double> fraction;
    bool expandable = false;
};

// What PYTORCH_CUDA_ALLOC_CONF may hold. Throws Error.
TorchOptions parse_torch_options(std::string_view text);

class TorchPolicy : public Policy {
public:
    TorchPolicy(CountedDevice& device, const TorchOptions& options);

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;
    void free_later(const Request& request) override;
    void ready(const Request& request) override;
    void synchronise(const Request& request) override;
    void empty_cache(const Request& request) override;

    std::uint64_t address(BlockId block) const override;
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t retries() const override { return retries_; }
    std::uint64_t largest_free() const override;

    // Null: all is as it must be. It looks at everything, and is for tests.
    const char* validate() const;

private:
    using State = HeapBlock::State;
    struct Wanted {
        BlockPool& pool;
        std::uint64_t bytes; // rounded
        std::uint16_t number, stream;
        bool is_private;
    };

    // torch.cpp: the order of attempts
    std::uint64_t start_bytes(const StartBlock& block, bool small, std::uint64_t room) const;
    BlockIndex find_free(const Wanted& wanted);
    BlockIndex grow(const Wanted& wanted);
    BlockIndex take_segment(const Wanted& wanted);
    std::uint64_t segment_bytes(std::uint64_t rounded) const;
    bool worth_splitting(const HeapBlock& block, const Wanted& wanted) const;
    void make_live(BlockIndex block, const Wanted& wanted, BlockId id);
    void make_free(BlockIndex block);
    void make_pending_free();

    // torch_release.cpp: what gives memory back
    void collect_garbage();
    bool release_oversize(const Wanted& wanted);
    void release_cached();
    void release_unsplit(BlockPool& pool);
    void release(BlockIndex block);

    // torch_expandable.cpp
    struct Range {
        std::uint64_t address, bytes, page;
    };
    BlockList::iterator prefer_inner(BlockList::iterator found, const BlockPool& pool) const;
    BlockIndex expand(const Wanted& wanted);
    BlockIndex find_addresses(const Wanted& wanted);
    bool has_addresses(BlockIndex block, std::uint64_t bytes) const;
    BlockIndex reserve_range(const Wanted& wanted);
    bool map(BlockIndex block, std::uint64_t bytes);
    void unmap(BlockIndex block);

    // torch_validate.cpp
    const char* validate_block(BlockIndex index) const;

    CountedDevice& device_;
    const TorchOptions options_;
    const std::uint64_t allowed_; // bytes that may be reserved
    BlockHeap heap_;
    std::vector<BlockIndex> where_; // by BlockId; 0: it is not there
    std::vector<BlockIndex> pending_;
    std::vector<Range> ranges_;
    std::uint64_t allocated_ = 0, retries_ = 0;
};

} // namespace vramscope::report::plan
