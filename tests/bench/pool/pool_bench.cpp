// tests/bench/pool/pool_bench.cpp — how long a hit takes.
//
// Usage: pool_bench ALLOCATOR LIVE SPARE THREADS ROUNDS
//
// ALLOCATOR: cache, split, torch, rmm. LIVE blocks of 16 sizes; SPARE 1: as many free ones between
// them, 0: none. A round frees 64 random blocks, synchronises (untimed) and allocates 64 of the
// same sizes. Each call is timed by itself with the TSC, less what an empty measurement takes.
// Printed, in ns: p50 and p99 of an allocation, p50 and p99 of a free; of all threads together.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>
#include <x86intrin.h>

#include "tests/bench/pool/allocators.hpp"

using namespace vramscope;
using bench::Counter;

namespace {

constexpr int kBatch = 64;
constexpr std::uint64_t kSizes[] = {512,     1024,    2048,    4096,     8192,    12'288,
                                    16'384,  32'768,  49'152,  65'536,   131'072, 196'608,
                                    262'144, 524'288, 786'432, 1'048'576};

std::uint64_t ticks()
{
    unsigned processor;
    const std::uint64_t now = __rdtscp(&processor);
    _mm_lfence();
    return now;
}

double ns_per_tick()
{
    const auto start = std::chrono::steady_clock::now();
    const std::uint64_t first = ticks();
    while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(20))
        ;
    const std::uint64_t last = ticks();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    return took.count() / static_cast<double>(last - first);
}

std::uint64_t empty_measurement()
{
    std::vector<std::uint64_t> taken(1001);
    for (auto& each : taken) {
        const std::uint64_t start = ticks();
        each = ticks() - start;
    }
    std::nth_element(taken.begin(), taken.begin() + 500, taken.end());
    return taken[500];
}

struct Block {
    pool::Address address;
    std::uint64_t bytes;
};

struct Taken {
    std::vector<std::uint32_t> allocations, frees;
};

// For spare blocks, every second of twice as many is freed, so that no two of them can be joined.
template <class Allocator>
std::vector<Block> fill(Allocator& allocator, std::size_t live, bool spare, std::mt19937_64& random)
{
    std::vector<Block> kept, other;
    for (std::size_t count = 0; count < (spare ? 2 * live : live); ++count) {
        const std::uint64_t bytes = kSizes[random() % std::size(kSizes)];
        (count % 2 || !spare ? kept : other).push_back({allocator.allocate(bytes), bytes});
    }
    for (const Block& block : other)
        allocator.free(block.address);
    allocator.synchronise();
    return kept;
}

template <class Allocator>
void measure(Allocator& allocator, std::vector<Block>& live, std::mt19937_64& random, int rounds,
             Taken& taken)
{
    std::size_t chosen[kBatch];
    std::uint32_t times[kBatch]; // a store to a new line would be waited for by the next lock
    for (int round = 0; round < rounds; ++round) {
        for (int at = 0; at < kBatch; ++at) { // different ones
            std::size_t& each = chosen[at];
            each = random() % live.size();
            while (live[each].address == 0)
                each = (each + 1) % live.size();
            const std::uint64_t start = ticks();
            allocator.free(live[each].address);
            times[at] = static_cast<std::uint32_t>(ticks() - start);
            live[each].address = 0;
        }
        taken.frees.insert(taken.frees.end(), times, times + kBatch);
        allocator.synchronise();
        for (int at = 0; at < kBatch; ++at) {
            const std::size_t each = chosen[at];
            const std::uint64_t start = ticks();
            live[each].address = allocator.allocate(live[each].bytes);
            times[at] = static_cast<std::uint32_t>(ticks() - start);
        }
        taken.allocations.insert(taken.allocations.end(), times, times + kBatch);
    }
}

void print(std::vector<std::uint32_t> taken, double ns, std::uint64_t empty)
{
    for (const double quantile : {0.5, 0.99}) {
        const auto at = static_cast<std::ptrdiff_t>(quantile * static_cast<double>(taken.size()));
        std::nth_element(taken.begin(), taken.begin() + at, taken.end());
        const double net =
            static_cast<double>(taken[static_cast<std::size_t>(at)]) - static_cast<double>(empty);
        std::printf("%.1f ", std::max(0.0, net * ns));
    }
}

template <class Allocator>
void run(Allocator& allocator, std::size_t live, bool spare, unsigned threads, int rounds)
{
    std::vector<std::vector<Block>> blocks(threads);
    std::vector<std::mt19937_64> randoms;
    for (unsigned thread = 0; thread < threads; ++thread) {
        randoms.emplace_back(thread + 1);
        blocks[thread] = fill(allocator, std::max<std::size_t>(live / threads, 2 * kBatch), spare,
                              randoms[thread]);
    }
    std::vector<Taken> taken(threads);
    std::atomic<unsigned> ready{0};
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread) {
        running.emplace_back([&, thread] {
            Taken warm_up;
            measure(allocator, blocks[thread], randoms[thread], rounds / 10 + 1, warm_up);
            taken[thread].allocations.reserve(static_cast<std::size_t>(rounds) * kBatch);
            taken[thread].frees.reserve(static_cast<std::size_t>(rounds) * kBatch);
            for (++ready; ready < threads;)
                ;
            measure(allocator, blocks[thread], randoms[thread], rounds, taken[thread]);
        });
    }
    Taken all;
    for (unsigned thread = 0; thread < threads; ++thread) {
        running[thread].join();
        for (const auto each : taken[thread].allocations)
            all.allocations.push_back(each);
        for (const auto each : taken[thread].frees)
            all.frees.push_back(each);
    }
    const double ns = ns_per_tick();
    const std::uint64_t empty = empty_measurement();
    print(all.allocations, ns, empty);
    print(all.frees, ns, empty);
    std::printf("\n");
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 6)
        return 2;
    const auto live = static_cast<std::size_t>(std::atoll(argv[2]));
    const bool spare = std::atoi(argv[3]) != 0;
    const auto threads = static_cast<unsigned>(std::atoi(argv[4]));
    const int rounds = std::atoi(argv[5]);
    const auto upstream = std::make_unique<Counter>();
    if (!std::strcmp(argv[1], "cache")) {
        bench::Ours<pool::CachePolicy> pool(*upstream, {});
        run(pool, live, spare, threads, rounds);
    } else if (!std::strcmp(argv[1], "split")) {
        bench::Ours<pool::SplitPolicy> pool(*upstream, {});
        run(pool, live, spare, threads, rounds);
    } else if (!std::strcmp(argv[1], "torch")) {
        bench::TorchRules<Counter> rules(*upstream, {});
        run(rules, live, spare, threads, rounds);
    } else if (!std::strcmp(argv[1], "rmm")) {
        bench::RmmRules<Counter> rules(*upstream, 0);
        run(rules, live, spare, threads, rounds);
    } else {
        return 2;
    }
    return 0;
}
