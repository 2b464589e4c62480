// report/reach/memory/sieve.cpp — the first sieve: four words at once where the processor can.
#include "report/reach/memory/sieve.hpp"

#include <cstring>

namespace vramscope::report {
namespace {

constexpr std::size_t kWords = 16; // looked at together

// Whole groups alone; returns where the first one is that is near, or where the rest begins.
using FindNear = std::size_t(const std::uint64_t* words, std::size_t at, std::size_t count,
                             Address low, Address span);

std::size_t find_near(const std::uint64_t* words, std::size_t at, std::size_t count, Address low,
                      Address span)
{
    for (; at + kWords <= count; at += kWords) {
        unsigned any = 0;
        for (std::size_t i = 0; i < kWords; ++i)
            any |= words[at + i] - low < span;
        if (any)
            break;
    }
    return at;
}

#ifdef __x86_64__
// The same, with the compiler's vectors: it makes one comparison of four.
[[gnu::target("avx2")]] std::size_t find_near_by_fours(const std::uint64_t* words, std::size_t at,
                                                       std::size_t count, Address low, Address span)
{
    using Four [[gnu::vector_size(32)]] = std::uint64_t;
    for (; at + kWords <= count; at += kWords) {
        Four a, b, c, d; // an array of them would be copied by way of the stack
        std::memcpy(&a, words + at, sizeof a);
        std::memcpy(&b, words + at + 4, sizeof b);
        std::memcpy(&c, words + at + 8, sizeof c);
        std::memcpy(&d, words + at + 12, sizeof d);
        const auto any = (a - low < span) | (b - low < span) | (c - low < span) | (d - low < span);
        if ((any[0] | any[1] | any[2] | any[3]) != 0)
            break;
    }
    return at;
}
#endif

FindNear* best_find_near()
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return find_near_by_fours;
#endif
    return find_near;
}

} // namespace

std::size_t Sieve::first_near(const std::uint64_t* words, std::size_t at, std::size_t count) const
{
    static_assert(kAtOnce == kWords);
    static FindNear* const best = best_find_near();
    return best(words, at, count, low_, span_);
}

} // namespace vramscope::report
