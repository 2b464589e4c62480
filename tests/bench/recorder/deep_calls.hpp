// tests/bench/recorder/deep_calls.hpp — calls with about 30 frames on the stack, from 100 sites.
//
// trunk: all sites share their outer frames, as the layers of one framework do. distinct: each site
// has a whole chain of its own. Frames differ in size; nothing is inlined, or turned into a jump.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace vramscope::bench {

using Work = void (*)(void* argument);
inline constexpr int kSites = 100;
inline constexpr int kDepth = 26;

// Takes some of the caller's frame, as locals would.
template <int Size>
[[gnu::always_inline]] inline void occupy()
{
    char locals[16 + Size * 24];
    asm volatile("" ::"r"(locals) : "memory");
}

#define VRAMSCOPE_BENCH_BARRIER() asm volatile("" ::: "memory")

template <int Site>
[[gnu::noinline]] void site(Work work, void* argument)
{
    occupy<Site % 6>();
    work(argument);
    VRAMSCOPE_BENCH_BARRIER();
}

template <int Level>
[[gnu::noinline]] void trunk(void (*leaf)(Work, void*), Work work, void* argument)
{
    occupy<Level % 7>();
    if constexpr (Level == 0)
        leaf(work, argument);
    else
        trunk<Level - 1>(leaf, work, argument);
    VRAMSCOPE_BENCH_BARRIER();
}

template <int Site, int Level>
[[gnu::noinline]] void chain(Work work, void* argument)
{
    occupy<(Site + Level) % 7>();
    if constexpr (Level == 0)
        site<Site>(work, argument);
    else
        chain<Site, Level - 1>(work, argument);
    VRAMSCOPE_BENCH_BARRIER();
}

template <int... Site>
constexpr auto sites_of(std::integer_sequence<int, Site...>)
{
    return std::array{&site<Site>...};
}

template <int... Site>
constexpr auto chains_of(std::integer_sequence<int, Site...>)
{
    return std::array{&chain<Site, kDepth>...};
}

[[gnu::noinline]] inline void call_from(bool distinct, int which, Work work, void* argument)
{
    static constexpr auto kLeaves = sites_of(std::make_integer_sequence<int, kSites>());
    static constexpr auto kChains = chains_of(std::make_integer_sequence<int, kSites>());
    if (distinct)
        kChains[static_cast<std::size_t>(which)](work, argument);
    else
        trunk<kDepth>(kLeaves[static_cast<std::size_t>(which)], work, argument);
    VRAMSCOPE_BENCH_BARRIER();
}

} // namespace vramscope::bench
