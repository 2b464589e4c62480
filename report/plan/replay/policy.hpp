// report/plan/replay/policy.hpp — an allocator as its rules say, over a device that only counts.
//
// A policy is single-threaded, owns no memory of a device, and answers each Request of a trace.
// replay() drives it: it names blocks by BlockId, and a policy keeps where each one is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/plan/replay/counted_device.hpp"
#include "report/plan/trace/trace.hpp"

namespace vramscope::report::plan {

class Policy {
public:
    virtual ~Policy() = default;

    // Takes over what was there before the first request. False: the device has not so much.
    virtual bool start(const std::vector<StartSegment>& segments) = 0;
    // False: out of memory, after all retries that the allocator makes. The block then does not
    // exist, and its free is not told.
    virtual bool allocate(const Request& request) = 0;
    virtual void free(const Request& request) = 0;
    virtual void free_later(const Request& request) { free(request); }
    virtual void ready(const Request&) {} // after free_later, and once
    virtual void synchronise(const Request&) {}
    virtual void empty_cache(const Request&) {}

    virtual std::uint64_t address(BlockId block) const = 0; // the block is live
    virtual std::uint64_t allocated() const = 0; // live blocks as they were rounded up, bytes
    virtual std::uint64_t retries() const { return 0; } // flushed and asked again
    // The largest piece that is free inside what is reserved, bytes. It may look at everything.
    virtual std::uint64_t largest_free() const = 0;
};

struct PolicyRow {
    std::string name;  // as --policy takes it: "torch", "torch:max_split_size_mb=128", "cache"
    std::string words; // one line for people
    std::function<std::unique_ptr<Policy>(CountedDevice&)> make; // from any thread
    std::string unsure; // what in its rules is a guess, a whole sentence; empty: nothing
};

// A policy by name and knobs, as --policy takes it. Throws Error with one line of what is wrong.
PolicyRow policy_of(const std::string& name);

// What policy_of() knows, without knobs.
std::vector<std::string> policy_names();

// Those that are compared when nobody says which: each allocator, and knobs worth trying.
std::vector<PolicyRow> usual_policies();

} // namespace vramscope::report::plan
