// tracker/log/interrupting_stacks.hpp — native stacks that lead through a signal handler.
//
// Where a signal came while a frame of Python was made or unmade, what leads to it may not be set
// yet: such a stack is its native frames alone. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "tracker/capture/stack_table.hpp"

namespace vramscope::log {

class InterruptingStacks {
public:
    // To be called before any other thread can find this stack.
    void note(std::uint32_t stack) noexcept
    {
        stacks_[stack / 64].fetch_or(bit_of(stack), std::memory_order_relaxed);
        any_.store(true, std::memory_order_release);
    }
    bool has(std::uint32_t stack) const noexcept
    {
        return any_.load(std::memory_order_acquire) &&
               (stacks_[stack / 64].load(std::memory_order_relaxed) & bit_of(stack)) != 0;
    }
    void reset_after_fork() noexcept
    {
        if (any_.exchange(false))
            for (std::atomic<std::uint64_t>& stacks : stacks_)
                stacks.store(0, std::memory_order_relaxed);
    }

private:
    static std::uint64_t bit_of(std::uint32_t stack) noexcept
    {
        return std::uint64_t{1} << stack % 64;
    }

    std::atomic<std::uint64_t> stacks_[capture::StackTable::kMaxStacks / 64 + 1]{};
    std::atomic<bool> any_{false};
};

} // namespace vramscope::log
