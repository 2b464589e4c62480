// report/plan/policies/async.hpp — cudaMallocAsync by NVIDIA's published rules: an estimate.
//
// The driver's pool is closed, so it is bracketed. In the best case pages of 2 MiB are mapped to
// wherever they are needed; in the worst none are, and what one stream freed serves others only
// after a synchronisation. Both keep what is free until the device is synchronised, and then give
// back what is beyond the release threshold.
#pragma once

#include "report/plan/policies/block_heap.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

std::uint64_t parse_release_threshold(std::string_view text); // bytes; throws Error

class AsyncBestPolicy : public Policy {
public:
    AsyncBestPolicy(CountedDevice& device, std::uint64_t threshold)
        : device_(device), threshold_(threshold)
    {
    }

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;
    void synchronise(const Request& request) override;

    std::uint64_t address(BlockId) const override { return 0; } // pages move
    std::uint64_t allocated() const override { return small_ + large_; }
    std::uint64_t largest_free() const override { return device_.reserved() - used(); }

private:
    std::uint64_t used() const; // whole pages
    void give_back(std::uint64_t kept);

    CountedDevice& device_;
    const std::uint64_t threshold_;
    std::vector<std::uint64_t> bytes_; // by BlockId
    std::uint64_t small_ = 0, large_ = 0;
};

class AsyncWorstPolicy : public Policy {
public:
    AsyncWorstPolicy(CountedDevice& device, std::uint64_t threshold);

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;
    void synchronise(const Request& request) override;

    std::uint64_t address(BlockId block) const override { return heap_[where_[block]].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t retries() const override { return retries_; }
    std::uint64_t largest_free() const override;

private:
    // The stream of the list that all streams may take from.
    static constexpr std::uint16_t kAnyStream = 0xffff;

    BlockIndex best_fit(std::uint64_t bytes, std::uint16_t stream);
    BlockIndex grow(std::uint64_t bytes, std::uint64_t segment, std::uint16_t stream);
    void make_free(BlockIndex block, std::uint16_t stream);
    void share_all();
    void give_back(std::uint64_t kept);

    CountedDevice& device_;
    const std::uint64_t threshold_;
    BlockHeap heap_;
    std::vector<BlockIndex> where_; // by BlockId
    std::uint64_t allocated_ = 0, retries_ = 0;
};

} // namespace vramscope::report::plan
