// report/plan/policies/rmm.hpp — RMM's memory resources: its pool, and bins before it.
#pragma once

#include <array>

#include "report/plan/policies/rmm_pool.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

class RmmPoolPolicy : public Policy {
public:
    RmmPoolPolicy(CountedDevice& device, const RmmOptions& options) : pool_(device, options) {}

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;

    std::uint64_t address(BlockId block) const override { return pool_[where_[block]].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t largest_free() const override { return pool_.largest_free(); }

private:
    RmmPool pool_;
    std::vector<BlockIndex> where_; // by BlockId
    std::uint64_t allocated_ = 0;
};

// Blocks of 256 KiB to 4 MiB in five sizes, made 128 at a time out of a pool and kept. What is
// larger comes from the pool.
class RmmBinningPolicy : public Policy {
public:
    RmmBinningPolicy(CountedDevice& device, const RmmOptions& options) : pool_(device, options) {}

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;

    std::uint64_t address(BlockId block) const override { return blocks_[block].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t largest_free() const override;

private:
    static constexpr std::uint64_t kLeast = 256u << 10;
    static constexpr std::size_t kBins = 5, kAtOnce = 128;

    struct Block {
        std::uint64_t address = 0;
        BlockIndex index = 0; // in the pool; 0: of a bin
        std::uint8_t bin = 0;
    };
    bool fill(std::size_t bin);

    RmmPool pool_;
    std::array<std::vector<std::uint64_t>, kBins> unused_; // addresses
    bool filled_ = false;
    std::vector<Block> blocks_; // by BlockId
    std::uint64_t allocated_ = 0;
};

RmmOptions parse_rmm_options(std::string_view text); // throws Error

} // namespace vramscope::report::plan
