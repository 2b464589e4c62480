// interpose/serve/contexts/patience.hpp — when to ask no more, as answers take too long.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::hooks {

// It is over after three long answers in turn: one alone may have waited for a processor. Any
// thread.
class Patience {
public:
    explicit constexpr Patience(std::uint64_t longest_ns) noexcept : longest_ns_(longest_ns) {}

    bool is_over() const noexcept { return in_turn_.load(std::memory_order_relaxed) >= kMost; }
    void note(std::uint64_t took_ns) noexcept
    {
        if (took_ns > longest_ns_)
            in_turn_.fetch_add(1, std::memory_order_relaxed);
        else
            in_turn_.store(0, std::memory_order_relaxed);
    }

private:
    static constexpr unsigned kMost = 3;

    std::uint64_t longest_ns_;
    std::atomic<unsigned> in_turn_{0};
};

} // namespace vramscope::hooks
