// report/replay/lookup/prefetch.hpp — fetches into the cache what will be read soon.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace vramscope::report {

// Things that are fetched together: enough for memory to answer in between.
inline constexpr std::size_t kMostAhead = 16;

// At most kMostAhead of something.
template <typename Value>
class PrefetchGroup {
public:
    void add(const Value& value) noexcept { values_[size_++] = value; }
    void clear() noexcept { size_ = 0; }
    const Value* begin() const noexcept { return values_.data(); }
    const Value* end() const noexcept { return values_.data() + size_; }

private:
    std::array<Value, kMostAhead> values_{};
    std::size_t size_ = 0;
};

// For what is fetched in steps, each of which needs what the one before it fetched. `fetch` is
// given one group after the other, begins with it, and takes each that it was given before one step
// further. To be called before each element is used, `at`: all steps are done by then.
template <typename Element, typename Fetch>
void prefetch_ahead(std::span<const Element> all, std::size_t at, std::size_t steps, Fetch fetch)
{
    if (at % kMostAhead != 0)
        return;
    const auto fetch_group = [&](std::size_t from) {
        from = std::min(from, all.size());
        fetch(all.subspan(from, std::min(kMostAhead, all.size() - from)));
    };
    for (std::size_t ahead = 0; at == 0 && ahead < steps; ++ahead)
        fetch_group(ahead * kMostAhead);
    fetch_group(at + steps * kMostAhead);
}

// The first lines of something that begins where a line does.
template <std::size_t kLines>
void prefetch_lines(const void* begin) noexcept
{
#pragma GCC unroll 8
    for (std::size_t line = 0; line < kLines; ++line)
        __builtin_prefetch(static_cast<const char*>(begin) + 64 * line);
    asm volatile(""); // as below
}

template <typename Value>
void prefetch(const Value* value) noexcept
{
    constexpr std::size_t kLine = 64;
    const auto* const first = reinterpret_cast<const char*>(value);
#pragma GCC unroll 8
    for (std::size_t offset = 0; offset < sizeof(Value); offset += kLine)
        __builtin_prefetch(first + offset);
    if constexpr (sizeof(Value) > alignof(Value) && alignof(Value) < kLine) // else it has no more
        __builtin_prefetch(first + sizeof(Value) - 1);
    asm volatile(""); // else GCC drops a loop that does nothing but this: it has no effect
}

} // namespace vramscope::report
