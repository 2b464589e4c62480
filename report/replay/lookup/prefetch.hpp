// report/replay/lookup/prefetch.hpp — fetches into the cache what will be read soon.
#pragma once

#include <cstddef>

namespace vramscope::report {

// Things that are fetched together: enough for memory to answer in between.
inline constexpr std::size_t kMostAhead = 16;

template <typename Value>
void prefetch(const Value* value) noexcept
{
    constexpr std::size_t kLine = 64;
    const auto* const first = reinterpret_cast<const char*>(value);
    for (std::size_t offset = 0; offset < sizeof(Value); offset += kLine)
        __builtin_prefetch(first + offset);
    if constexpr (sizeof(Value) > alignof(Value)) // else it is in one line
        __builtin_prefetch(first + sizeof(Value) - 1);
    asm volatile(""); // else GCC drops a loop that does nothing but this: it has no effect
}

} // namespace vramscope::report
