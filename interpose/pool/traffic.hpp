// interpose/pool/traffic.hpp — what other threads do with memory that one is short of.
//
// A thread gives back all that is free, and asks for more: between the two another may take what
// was given back, or keep what it frees, and what a third gives back is in no pool and not at the
// source yet. So a try that was disturbed has proven nothing. One that was not is the truth: what
// it could not have was live at one moment.
#pragma once

#include <atomic>
#include <cstdint>

namespace vramscope::pool {

struct Traffic {
    std::uint64_t changes = 0; // allocations, what was given back, and where one was in the way
    std::uint64_t moving = 0;  // threads that take or give back memory at this moment

    Traffic& operator+=(const Traffic& other) noexcept
    {
        changes += other.changes;
        moving += other.moving;
        return *this;
    }
};

inline constexpr int kMostTries = 12; // with pauses, each twice the last, about 0.2 s

// Whether a try since `seen`, which then becomes `now`, was disturbed.
inline bool was_disturbed(Traffic& seen, const Traffic& now) noexcept
{
    const bool disturbed = seen.moving != 0 || now.moving != 0 || now.changes != seen.changes;
    seen = now;
    return disturbed;
}

// While it lives, its thread holds memory that no other finds.
class Moving {
public:
    explicit Moving(std::atomic<unsigned>& threads) noexcept : threads_(threads)
    {
        threads_.fetch_add(1);
    }
    ~Moving() { threads_.fetch_sub(1); }
    Moving(const Moving&) = delete;
    Moving& operator=(const Moving&) = delete;

private:
    std::atomic<unsigned>& threads_;
};

} // namespace vramscope::pool
