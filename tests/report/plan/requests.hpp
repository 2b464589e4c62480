// tests/report/plan/requests.hpp — traces by hand and by chance, and what a policy makes of them.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "report/plan/policies/torch.hpp"
#include "report/plan/replay/replay.hpp"
#include "tests/support/sizes.hpp"

namespace vramscope::test {

using namespace report::plan;

// Requests in their order; the blocks have the numbers of their allocations.
struct Requests {
    Trace trace;

    BlockId allocate(std::uint64_t bytes, unsigned stream = 0, unsigned pool = 0)
    {
        add({.bytes = bytes,
             .block = static_cast<BlockId>(trace.sites.size()),
             .stream = static_cast<std::uint16_t>(stream),
             .pool = static_cast<std::uint8_t>(pool)});
        trace.sites.push_back(0);
        return static_cast<BlockId>(trace.sites.size() - 1);
    }
    void free(BlockId block, unsigned stream = 0) { add_to(block, Action::free, stream); }
    void free_later(BlockId block) { add_to(block, Action::free_later, 0); }
    void ready(BlockId block) { add_to(block, Action::ready, 0); }
    void synchronise() { add({.action = Action::synchronise}); }
    void empty_cache() { add({.action = Action::empty_cache}); }

    Outcome play(const std::string& policy, std::uint64_t capacity = CountedDevice::kNoLimit) const
    {
        return replay(trace, policy_of(policy), {.capacity = capacity});
    }

private:
    void add(const Request& request) { trace.requests.push_back(request); }
    void add_to(BlockId block, Action action, unsigned stream)
    {
        add({.block = block, .stream = static_cast<std::uint16_t>(stream), .action = action});
    }
};

// PyTorch's allocator, one call at a time; all is looked at after each.
class TorchSteps {
public:
    explicit TorchSteps(const std::string& knobs = "",
                        std::uint64_t capacity = CountedDevice::kNoLimit)
        : device(capacity), policy(device, parse_torch_options(knobs))
    {
    }

    // The block's number; kNone: out of memory.
    static constexpr BlockId kNone = ~BlockId{0};
    BlockId allocate(std::uint64_t bytes, unsigned stream = 0, unsigned pool = 0)
    {
        const bool done = policy.allocate({.bytes = bytes,
                                           .block = blocks_,
                                           .stream = static_cast<std::uint16_t>(stream),
                                           .pool = static_cast<std::uint8_t>(pool)});
        look();
        return done ? blocks_++ : kNone;
    }
    void free(BlockId block)
    {
        policy.free({.block = block, .action = Action::free});
        look();
    }
    void free_later(BlockId block)
    {
        policy.free_later({.block = block, .action = Action::free_later});
        look();
    }
    void ready(BlockId block)
    {
        policy.ready({.block = block, .action = Action::ready});
        look();
    }
    void empty_cache()
    {
        policy.empty_cache({.action = Action::empty_cache});
        look();
    }
    std::uint64_t address(BlockId block) const { return policy.address(block); }

    CountedDevice device;
    TorchPolicy policy;
    std::string wrong; // the first thing that validate() found

private:
    void look()
    {
        const char* const found = policy.validate();
        if (found && wrong.empty())
            wrong = found;
    }
    BlockId blocks_ = 0;
};

// Allocations and frees by chance, with few sizes that come again; the same for the same seed.
inline Requests random_requests(unsigned seed, int count, unsigned streams = 1)
{
    auto random = [engine = std::mt19937(seed)]() mutable {
        return static_cast<unsigned>(engine());
    };
    Requests requests;
    std::vector<BlockId> live;
    for (int each = 0; each < count; ++each) {
        const unsigned kind = random() % 100;
        if (kind < 46 && !live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            requests.free(live.back(), random() % streams);
            live.pop_back();
        } else if (kind == 46) {
            requests.synchronise();
        } else {
            const std::uint64_t some[] = {512, 20_KiB, 1_MiB, 3_MiB, 9_MiB, 10_MiB, 33_MiB};
            const std::uint64_t bytes =
                random() % 2 ? some[random() % 7] : 1 + (random() & ((1u << random() % 25) - 1));
            live.push_back(requests.allocate(bytes, random() % streams));
        }
    }
    return requests;
}

} // namespace vramscope::test
