// report/plan/policies/none.hpp — no allocator between the program and the driver.
#pragma once

#include "report/plan/policies/driver_pages.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

// Each block is a cudaMalloc and a cudaFree, which waits for what uses it.
class NonePolicy : public Policy {
public:
    explicit NonePolicy(CountedDevice& device) : pages_(device) {}

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;

    std::uint64_t address(BlockId block) const override { return blocks_[block].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t largest_free() const override { return pages_.largest_free(); }

private:
    struct Block {
        std::uint64_t address = 0, bytes = 0;
    };
    DriverPages pages_;
    std::vector<Block> blocks_; // by BlockId
    std::uint64_t allocated_ = 0;
};

// All live memory close together in pages of 2 MiB, as if it could be moved: the lower bound.
class IdealPolicy : public Policy {
public:
    explicit IdealPolicy(CountedDevice& device) : device_(device) {}

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;

    std::uint64_t address(BlockId) const override { return 0; } // it moves
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t largest_free() const override { return device_.reserved() - allocated_; }

private:
    CountedDevice& device_;
    std::vector<std::uint64_t> bytes_; // by BlockId
    std::uint64_t allocated_ = 0;
};

} // namespace vramscope::report::plan
