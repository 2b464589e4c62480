// report/plan/replay/replay.hpp — a trace's requests, answered by a policy on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

// What was reserved, and in what it was, at one moment. Bytes.
struct Level {
    std::uint64_t reserved = 0;
    std::uint64_t allocated = 0; // live blocks as they were rounded up
    std::uint64_t requested = 0; // the same as the program asked for them
    std::size_t request = 0;     // index of the request after which it was so

    std::uint64_t internal() const noexcept { return allocated - requested; }
    std::uint64_t external() const noexcept { return reserved - allocated; }
};

struct Shortage {
    std::size_t request = 0; // its index in the trace
    BlockId block = 0;
    std::uint64_t bytes = 0;        // as asked for; 0: what was there at the start did not fit
    std::uint64_t reserved = 0;     // at that moment, after all that could go back did
    std::uint64_t allocated = 0;    // at that moment
    std::uint64_t beside = 0;       // what the program itself had past its allocator
    std::uint64_t largest_free = 0; // the largest free piece inside what was reserved
    bool is_beside = false;         // the allocation past the allocator is what failed
};

struct Outcome {
    Level peak;                       // the first moment at which most was reserved
    std::uint64_t peak_allocated = 0; // bytes, at a moment of its own
    std::uint64_t device_calls = 0;   // those that take memory and those that give it back
    std::uint64_t retries = 0;
    std::uint64_t shortages = 0;           // requests that were not served
    std::optional<Shortage> out_of_memory; // the first of them
};

struct ReplayOptions {
    std::uint64_t capacity =
        CountedDevice::kNoLimit; // bytes of the device, its base_bytes included
    bool stop_at_shortage = false;
};

// A full replay, with a policy of its own; from any thread. Blocks that could not be allocated are
// not freed. `step`, if given, is called after each request.
using Step = std::function<void(std::size_t request, const Policy&, const CountedDevice&,
                                const Outcome& until_now)>;
Outcome replay(const Trace& trace, const PolicyRow& policy, const ReplayOptions& options = {});
Outcome replay(const Trace& trace, Policy& policy, CountedDevice& device,
               bool stop_at_shortage = false, const Step& step = {});

} // namespace vramscope::report::plan
