// report/findings/live_holdings.hpp — sums of the blocks that are alive: all, by device, by stack.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/model/live.hpp"
#include "report/replay/heap/stack_sums.hpp"

namespace vramscope::report {

// Sums up the blocks that are alive.
class LiveHoldings {
public:
    explicit LiveHoldings(LiveState& state) : state_(state) {}

    void add(const Block& block)
    {
        if (!is_own_memory(block.memory))
            return;
        const bool host = class_of(block.memory) == format::MemoryClass::host;
        (host ? state_.host_bytes : state_.device_bytes) += block.bytes;
        (host ? state_.host_blocks : state_.device_blocks) += 1;
        if (!host) {
            LiveDevice& device = device_of(block.device);
            device.held_bytes += block.bytes;
            ++device.blocks;
        }
        stacks_.add(block);
    }

    LiveDevice& device_of(std::int32_t ordinal)
    {
        const auto at = std::lower_bound(
            state_.devices.begin(), state_.devices.end(), ordinal,
            [](const LiveDevice& device, std::int32_t wanted) { return device.ordinal < wanted; });
        if (at != state_.devices.end() && at->ordinal == ordinal)
            return *at;
        LiveDevice device;
        device.ordinal = ordinal;
        return *state_.devices.insert(at, device);
    }

    const StackSums& stacks() const noexcept { return stacks_; }

private:
    LiveState& state_;
    StackSums stacks_;
};

} // namespace vramscope::report
