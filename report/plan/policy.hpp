// report/plan/policy.hpp — an allocator as its rules say, over a device that only counts.
//
// A policy is single-threaded, owns no memory of a device, and answers each Request of a trace.
// replay() drives it: it names blocks by BlockId, and a policy keeps where each one is.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "report/plan/trace.hpp"

namespace vramscope::report::plan {

// Memory that is counted and not there. Addresses grow and are never used again, unless a test
// gives the recorded ones.
class CountedDevice {
public:
    static constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

    explicit CountedDevice(std::uint64_t capacity = kNoLimit) : capacity_(capacity) {}

    // False: it would be more than the capacity; nothing was taken.
    bool allocate(std::uint64_t bytes, std::uint64_t& address);
    void release(std::uint64_t address, std::uint64_t bytes);

    std::uint64_t reserved() const noexcept { return reserved_; }
    std::uint64_t peak_reserved() const noexcept { return peak_reserved_; }
    std::uint64_t calls() const noexcept { return calls_; } // allocations and releases

    // Called at each allocation and release with its address and bytes; may be empty.
    std::function<void(bool taken, std::uint64_t address, std::uint64_t bytes)> on_call;
    // The next addresses to give out; when it is empty, they are counted.
    std::function<std::uint64_t(std::uint64_t bytes)> next_address;

private:
    std::uint64_t capacity_;
    std::uint64_t reserved_ = 0;
    std::uint64_t peak_reserved_ = 0;
    std::uint64_t calls_ = 0;
    std::uint64_t end_ = std::uint64_t{1} << 32;
};

class Policy {
public:
    virtual ~Policy() = default;

    // Takes over what was there before the first request.
    virtual void start(const std::vector<StartSegment>& segments) = 0;
    // False: out of memory, after all retries that the allocator makes. The block then does not
    // exist, and its free is not told.
    virtual bool allocate(const Request& request) = 0;
    virtual void free(const Request& request) = 0;
    virtual void ready(const Request&) {}
    virtual void synchronise(const Request&) {}
    virtual void empty_cache(const Request&) {}

    virtual std::uint64_t address(BlockId block) const = 0; // of a live block
    virtual std::uint64_t allocated() const = 0; // live blocks as they were rounded up, bytes
    virtual std::uint64_t retries() const { return 0; } // flushed and asked again
};

struct PolicyRow {
    std::string name;  // as --policy takes it: "torch", "torch:max_split_size_mb=128", "cache"
    std::string words; // one line for people
    std::function<std::unique_ptr<Policy>(CountedDevice&)> make;
};

} // namespace vramscope::report::plan
