// tests/programs/memory/soak.cpp — SECONDS of allocations and frees of all kinds, and what came of them.
//
//   soak SECONDS [CALLS_A_SECOND]
//
// Four threads, each with so many calls a second: device memory, in the order of a stream, managed,
// pinned; a handful of blocks live in each. Once a second each thread keeps a block, up to a hundred,
// and a thread of its own comes, allocates, frees and ends. Of every block that it is given a thread
// writes the first word and reads it back before its end. Each minute, and at the end, a line of
// counts is printed: calls, blocks kept, their bytes, the process's resident bytes, and how long half
// of all allocations and frees took at most, and 99 of 100.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 4;
constexpr std::size_t kLive = 48;
constexpr std::size_t kKept = 100; // by each thread
constexpr std::size_t kMostBytes = 64 * 1024;

struct Block {
    CUdeviceptr address = 0;
    unsigned kind = 0;
    std::uint64_t word = 0;
};

struct Counts {
    std::atomic<std::uint64_t> allocations{0}, frees{0};
    std::atomic<std::uint64_t> kept{0}, kept_bytes{0};
};
Counts counts;

// How often a call took how long, within an eighth.
class Durations {
public:
    template <typename Called>
    void measure(const Called& called)
    {
        const auto begin = Clock::now();
        called();
        const auto ns = std::chrono::nanoseconds(Clock::now() - begin).count();
        ++counts_[bucket_of(static_cast<std::uint64_t>(ns))];
    }

    // So many percent of them took at most that many ns; 0: there are none.
    std::uint64_t most_of(std::uint64_t percent) const
    {
        std::uint64_t all = 0, so_far = 0;
        for (const auto& count : counts_)
            all += count;
        for (std::size_t bucket = 0; so_far < all; ++bucket)
            if ((so_far += counts_[bucket]) * 100 >= all * percent)
                return ((bucket & kPartMask) + kParts + 1) << (bucket >> kPartBits);
        return 0;
    }

private:
    static constexpr unsigned kPartBits = 3;
    static constexpr std::uint64_t kParts = 1U << kPartBits, kPartMask = kParts - 1;

    static std::size_t bucket_of(std::uint64_t ns)
    {
        ns |= kParts;
        const auto shift = static_cast<unsigned>(std::bit_width(ns)) - kPartBits - 1;
        return (shift << kPartBits) + ((ns >> shift) & kPartMask);
    }

    std::array<std::atomic<std::uint64_t>, 64 << kPartBits> counts_{};
};
Durations durations;

std::uint64_t resident_bytes()
{
    unsigned long pages = 0, resident = 0;
    std::FILE* const statm = std::fopen("/proc/self/statm", "r");
    if (statm == nullptr || std::fscanf(statm, "%lu %lu", &pages, &resident) != 2)
        std::exit(4);
    std::fclose(statm);
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

class Worker {
public:
    Worker(CUcontext context, unsigned seed) : random_(seed)
    {
        check(cuCtxSetCurrent(context));
        check(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    }

    void step()
    {
        Block& slot = live_[random_() % kLive];
        if (slot.address != 0)
            release(slot);
        else
            slot = allocate(1 + random_() % kMostBytes);
    }

    void keep()
    {
        if (kept_ == kKept)
            return;
        CUdeviceptr block = 0;
        check(cuMemAlloc_v2(&block, 1024)); // MARK kept
        ++counts.allocations;
        ++counts.kept;
        counts.kept_bytes += 1024;
        ++kept_;
    }

    void end()
    {
        for (Block& slot : live_)
            if (slot.address != 0)
                release(slot);
        check(cuStreamDestroy_v2(stream_));
    }

private:
    Block allocate(std::size_t bytes)
    {
        Block block{0, static_cast<unsigned>(random_() % 4), random_()};
        bytes = std::max(bytes, sizeof block.word);
        durations.measure([&] { make(block, bytes); });
        ++counts.allocations;
        check(cuMemcpyHtoDAsync_v2(block.address, &block.word, sizeof block.word, stream_));
        check(cuStreamSynchronize(stream_));
        return block;
    }

    void release(Block& block)
    {
        std::uint64_t word = 0;
        check(cuMemcpyDtoHAsync_v2(&word, block.address, sizeof word, stream_));
        check(cuStreamSynchronize(stream_));
        if (word != block.word) {
            std::fprintf(stderr, "a block of kind %u was written to by another\n", block.kind);
            std::_Exit(5);
        }
        durations.measure([&] { end(block); });
        ++counts.frees;
        block = {};
    }

    void make(Block& block, std::size_t bytes)
    {
        void* host = nullptr;
        switch (block.kind) {
        case 0:
            return check(cuMemAlloc_v2(&block.address, bytes));
        case 1:
            return check(cuMemAllocAsync(&block.address, bytes, stream_));
        case 2:
            return check(cuMemAllocManaged(&block.address, bytes, CU_MEM_ATTACH_GLOBAL));
        default:
            check(cuMemHostAlloc(&host, bytes, 0));
            block.address = reinterpret_cast<CUdeviceptr>(host);
        }
    }

    void end(const Block& block)
    {
        if (block.kind == 3)
            return check(cuMemFreeHost(reinterpret_cast<void*>(block.address)));
        check(block.kind == 1 ? cuMemFreeAsync(block.address, stream_)
                              : cuMemFree_v2(block.address));
    }

    std::mt19937_64 random_;
    CUstream stream_ = nullptr;
    std::array<Block, kLive> live_;
    std::size_t kept_ = 0;
};

// In pieces of a hundredth of a second, each as many calls as are due.
void work(CUcontext context, unsigned seed, Clock::time_point end, std::uint64_t rate)
{
    constexpr auto kPiece = std::chrono::milliseconds(10);
    Worker worker(context, seed);
    auto next = Clock::now();
    for (std::uint64_t piece = 0; next < end; ++piece) {
        for (std::uint64_t i = 0; i < rate / 100; ++i)
            worker.step();
        if (piece % 100 == 0) {
            worker.keep();
            std::thread([context, seed, piece] {
                Worker brief(context, seed + static_cast<unsigned>(piece));
                for (int i = 0; i < 100; ++i)
                    brief.step();
                brief.end();
            }).join();
        }
        next += kPiece;
        std::this_thread::sleep_until(next);
    }
    worker.end();
}

void print()
{
    const std::uint64_t frees = counts.frees, allocations = counts.allocations;
    std::printf(
        "allocations=%lu frees=%lu kept=%lu kept_bytes=%lu resident=%lu p50_ns=%lu p99_ns=%lu\n",
        allocations, frees, counts.kept.load(), counts.kept_bytes.load(), resident_bytes(),
        durations.most_of(50), durations.most_of(99));
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const auto seconds = std::chrono::seconds(std::atol(argv[1]));
    const std::uint64_t rate = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
    const CUcontext context = primary_context();
    const auto end = Clock::now() + seconds;
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < kThreads; ++thread)
        threads.emplace_back(work, context, thread * 1'000'000, end, rate);
    for (auto minute = Clock::now() + std::chrono::minutes(1); minute < end;
         minute += std::chrono::minutes(1)) {
        std::this_thread::sleep_until(minute);
        print();
    }
    for (std::thread& thread : threads)
        thread.join();
    print();
}
