// tests/bench/recorder/recorder_bench.cpp — what an allocation and a free cost.
//
// Prints the nanoseconds of CPU time and of wall time, and the frames; `latency` the medians of an
// allocation and a free, and what 99 of 100 take at most, timed call by call.
//
//   recorder_bench WORK trunk|distinct THREADS EVENTS
//   recorder_bench endless FILE
//
// WORK is device, steps, latency, malloc, unwind, nothing, init or synchronise. Behind each batch,
// `steps` and `latency` synchronise, as programs do whose pool is to reuse blocks. `endless` counts
// the recorded allocations in FILE until it is killed.
//
// It allocates from deep stacks in batches and frees them from one flat loop, so that the two are
// timed apart. Threads are pinned to CPUs of their own. Run it alone and under a tracer: the
// difference is the tracer's.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>
#include <x86intrin.h>

#include "tests/bench/recorder/deep_calls.hpp"

extern "C" {
int cuInit(unsigned flags);
int cuMemAlloc_v2(unsigned long long* out, std::size_t bytes);
int cuMemFree_v2(unsigned long long address);
int cuCtxSynchronize();
}

namespace {

using namespace vramscope::bench;

constexpr std::size_t kBatch = 1000;

struct Batch {
    unsigned long long addresses[kBatch];
    void* blocks[kBatch];
    std::size_t used;
    int frames;
    std::uint32_t ticks[kBatch]; // how long each call took
};

std::uint64_t ticks_now()
{
    unsigned processor;
    const std::uint64_t now = __rdtscp(&processor);
    _mm_lfence();
    return now;
}

int (*unw_backtrace)(void**, int);

void allocate_device(void* argument)
{
    auto& batch = *static_cast<Batch*>(argument);
    cuMemAlloc_v2(&batch.addresses[batch.used], 512 + batch.used % 8 * 256);
    ++batch.used;
}

void allocate_timed(void* argument)
{
    auto& batch = *static_cast<Batch*>(argument);
    const std::uint64_t begin = ticks_now();
    allocate_device(argument);
    batch.ticks[batch.used - 1] = static_cast<std::uint32_t>(ticks_now() - begin);
}

void allocate_in_steps(void* argument)
{
    allocate_device(argument);
}

void allocate_host(void* argument)
{
    auto& batch = *static_cast<Batch*>(argument);
    batch.blocks[batch.used] = std::malloc(64 + batch.used % 8 * 32);
    ++batch.used;
}

void only_unwind(void* argument)
{
    auto& batch = *static_cast<Batch*>(argument);
    void* frames[64];
    batch.frames = unw_backtrace(frames, 64);
    ++batch.used;
}

void do_nothing(void* argument)
{
    ++static_cast<Batch*>(argument)->used;
    VRAMSCOPE_BENCH_BARRIER();
}

void call_init(void* argument)
{
    cuInit(0);
    ++static_cast<Batch*>(argument)->used;
}

void synchronise(void* argument)
{
    cuCtxSynchronize();
    ++static_cast<Batch*>(argument)->used;
}

struct Kind {
    const char* name;
    Work allocate;
};
constexpr Kind kKinds[] = {{"device", &allocate_device}, {"steps", &allocate_in_steps},
                           {"latency", &allocate_timed}, {"malloc", &allocate_host},
                           {"unwind", &only_unwind},     {"nothing", &do_nothing},
                           {"init", &call_init},         {"synchronise", &synchronise}};

// Wall time, and the thread's CPU time, which leaves out what other work on the machine took.
struct Moment {
    double wall_ns, cpu_ns;
    static Moment now() { return {ns_of(CLOCK_MONOTONIC), ns_of(CLOCK_THREAD_CPUTIME_ID)}; }

private:
    static double ns_of(clockid_t clock)
    {
        timespec time;
        ::clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    }
};

struct Cost {
    double wall_ns = 0, cpu_ns = 0;
    void add(const Moment& begin, const Moment& end)
    {
        wall_ns += end.wall_ns - begin.wall_ns;
        cpu_ns += end.cpu_ns - begin.cpu_ns;
    }
};

struct Times {
    Cost allocate, free;
    int frames = 0;
    std::vector<std::uint32_t> allocations, frees; // ticks of single calls
};

void release(Work allocate, Batch& batch)
{
    if (allocate == &allocate_timed)
        for (std::size_t i = 0; i < batch.used; ++i) {
            const std::uint64_t begin = ticks_now();
            cuMemFree_v2(batch.addresses[i]);
            batch.ticks[i] = static_cast<std::uint32_t>(ticks_now() - begin);
        }
    else if (allocate == &allocate_device || allocate == &allocate_in_steps)
        for (std::size_t i = 0; i < batch.used; ++i)
            cuMemFree_v2(batch.addresses[i]);
    else if (allocate == &allocate_host)
        for (std::size_t i = 0; i < batch.used; ++i)
            std::free(batch.blocks[i]);
}

// A few calls from each site come first: these numbers are not about what is learnt once.
Times run(Work allocate, bool distinct, std::size_t events, std::atomic<int>& waiting)
{
    std::vector<std::uint8_t> sites(1 << 14);
    std::mt19937 random(1);
    for (std::uint8_t& which : sites)
        which = static_cast<std::uint8_t>(random() % kSites);
    Batch batch{};
    for (int i = 0; i < 5 * kSites; ++i)
        call_from(distinct, i % kSites, allocate, &batch);
    release(allocate, batch);
    const bool timed = allocate == &allocate_timed;
    Times times;
    times.allocations.reserve(timed ? events + kBatch : 0);
    times.frees.reserve(timed ? events + kBatch : 0);
    waiting.fetch_sub(1);
    while (waiting.load() > 0) {
    }
    std::size_t at = 0;
    for (std::size_t done = 0; done < events; done += kBatch) {
        batch.used = 0;
        const Moment begin = Moment::now();
        while (batch.used < kBatch)
            call_from(distinct, sites[at++ & (sites.size() - 1)], allocate, &batch);
        if (timed)
            times.allocations.insert(times.allocations.end(), batch.ticks, batch.ticks + kBatch);
        const Moment middle = Moment::now();
        release(allocate, batch);
        times.allocate.add(begin, middle);
        times.free.add(middle, Moment::now());
        if (timed)
            times.frees.insert(times.frees.end(), batch.ticks, batch.ticks + kBatch);
        if (timed || allocate == &allocate_in_steps)
            cuCtxSynchronize();
    }
    times.frames = batch.frames;
    return times;
}

void pin_to(std::size_t which)
{
    cpu_set_t allowed;
    ::sched_getaffinity(0, sizeof allowed, &allowed);
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed) || which-- != 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        ::sched_setaffinity(0, sizeof one, &one);
        return;
    }
}

double ns_per_tick()
{
    const Moment begin = Moment::now();
    const std::uint64_t first = ticks_now();
    while (Moment::now().wall_ns < begin.wall_ns + 2e7) {
    }
    const std::uint64_t last = ticks_now();
    return (Moment::now().wall_ns - begin.wall_ns) / static_cast<double>(last - first);
}

// What half of all threads' calls take at most, and 99 of 100.
void print_latencies(const std::vector<Times>& times)
{
    const double ns = ns_per_tick();
    std::vector<std::uint32_t> allocations, frees;
    for (const Times& one : times) {
        allocations.insert(allocations.end(), one.allocations.begin(), one.allocations.end());
        frees.insert(frees.end(), one.frees.begin(), one.frees.end());
    }
    for (const std::size_t percent : {50, 99})
        for (std::vector<std::uint32_t>* calls : {&allocations, &frees}) {
            const auto at = static_cast<std::ptrdiff_t>(calls->size() * percent / 100);
            std::nth_element(calls->begin(), calls->begin() + at, calls->end());
            std::printf("%.0f ", ns * (*calls)[static_cast<std::size_t>(at)]);
        }
    std::printf("%d\n", times[0].frames);
}

int run_threads(const Kind& kind, bool distinct, int count, std::size_t events)
{
    std::vector<Times> times(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    std::atomic<int> waiting{count};
    for (std::size_t t = 0; t < times.size(); ++t)
        threads.emplace_back([&, t] {
            pin_to(t);
            times[t] = run(kind.allocate, distinct, events, waiting);
        });
    for (std::thread& thread : threads)
        thread.join();
    if (kind.allocate == &allocate_timed) {
        print_latencies(times);
        return 0;
    }
    Cost allocate, free;
    const double divisor =
        static_cast<double>(count) * static_cast<double>(std::max<std::size_t>(events, 1));
    for (const Times& one : times) {
        allocate.wall_ns += one.allocate.wall_ns / divisor;
        allocate.cpu_ns += one.allocate.cpu_ns / divisor;
        free.wall_ns += one.free.wall_ns / divisor;
        free.cpu_ns += one.free.cpu_ns / divisor;
    }
    std::printf("%.2f %.2f %.2f %.2f %d\n", allocate.cpu_ns, free.cpu_ns, allocate.wall_ns,
                free.wall_ns, times[0].frames);
    return 0;
}

int run_until_killed(const char* path)
{
    const int file = ::open(path, O_RDWR);
    void* page =
        ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        return 1;
    Batch batch{};
    std::atomic_ref recorded(*static_cast<std::uint64_t*>(page));
    for (int which = 0;; which = (which + 1) % kSites) {
        call_from(false, which, &allocate_device, &batch);
        batch.used = 0;
        recorded.fetch_add(1, std::memory_order_release);
    }
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 3 && std::strcmp(argv[1], "endless") == 0)
        return run_until_killed(argv[2]);
    const auto kind =
        argc == 5
            ? std::find_if(std::begin(kKinds), std::end(kKinds),
                           [&](const Kind& known) { return std::strcmp(known.name, argv[1]) == 0; })
            : std::end(kKinds);
    if (kind == std::end(kKinds)) {
        std::fprintf(stderr, "usage: recorder_bench WORK trunk|distinct THREADS EVENTS\n");
        return 125;
    }
    if (std::strcmp(argv[1], "unwind") == 0) {
        void* library = ::dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
        if (!library || !(unw_backtrace = reinterpret_cast<int (*)(void**, int)>(
                              ::dlsym(library, "unw_backtrace"))))
            return 77;
    }
    return run_threads(*kind, std::strcmp(argv[2], "distinct") == 0, std::atoi(argv[3]),
                       std::strtoull(argv[4], nullptr, 10));
}
