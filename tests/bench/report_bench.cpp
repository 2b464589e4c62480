// tests/bench/report_bench.cpp — events per second and memory of a whole report.
//
//   report_bench [EVENTS [off|cache|split|torch]]
//
// Without arguments: logs of 1 and 10 million events, of 1, 4 and 64 threads, with each pool, and
// with PyTorch's blocks.
// On one core, by `taskset -c 0`, nothing is read ahead. CPU time is that of the report alone.
//
// It measures logs of growing length. In each, every allocation is freed 50,000 events later, so
// the live set stays the same however long the log is. With a pool, the blocks are segments of
// their own, or pieces of segments; PyTorch's are pieces of what the driver gave.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/findings/make_report.hpp"
#include "tests/support/log_builder.hpp"

namespace {

using vramscope::test::LogBuilder;

constexpr std::uint64_t kLive = 25'000;
constexpr std::uint64_t kStacks = 2000;

// With pieces: twice as many places as live blocks, and this many in a segment.
constexpr std::uint64_t kPlaces = 2 * kLive;
constexpr std::uint64_t kPlace = 64 << 10;
constexpr std::uint64_t kPieces = 320;

std::uint64_t address_of_place(std::uint64_t at)
{
    return 0x7f0000000000 + at * 7919 % kPlaces * kPlace;
}

template <typename Take> // called with the address of each segment
void for_each_segment(Take take)
{
    for (std::uint64_t segment = 0; segment * kPieces < kPlaces; ++segment)
        take(0x7f0000000000 + segment * kPieces * kPlace);
}

void define_stacks(LogBuilder& log)
{
    for (std::uint64_t id = 1; id <= kStacks; ++id)
        log.stack(id, {0x400000 + id * 16, 0x500000, 0x500100, 0x500200});
}

void write_to(const std::string& path, const LogBuilder& log)
{
    const vramscope::test::Bytes bytes = log.build();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

void write_log(const std::string& path, std::uint64_t events, std::uint32_t threads)
{
    LogBuilder log;
    define_stacks(log);
    for (std::uint64_t at = 0; at < events / 2; ++at) {
        log.thread(static_cast<std::uint32_t>(at % threads)).place({.context = 1, .device = 0});
        log.alloc(0x7f0000000000 + at * 2654435761 % (1u << 24) * 512, 512 + at % 100 * 256,
                  1 + at % kStacks);
        if (at >= kLive)
            log.free(0x7f0000000000 + (at - kLive) * 2654435761 % (1u << 24) * 512);
    }
    write_to(path, log);
}

enum class Pool { none, cache, split, torch };

// A synchronisation every 1000 allocations.
void write_pooled_log(const std::string& path, std::uint64_t events, Pool pool)
{
    LogBuilder log;
    log.info("pool.mode", pool == Pool::cache ? "cache" : "split").context(1);
    define_stacks(log);
    log.place({.context = 1, .device = 0});
    if (pool == Pool::split)
        for_each_segment([&](std::uint64_t address) { log.segment(address, kPieces * kPlace); });
    for (std::uint64_t at = 0; at < events / 2; ++at) {
        const std::uint64_t address = address_of_place(at);
        if (at < kPlaces && pool == Pool::cache)
            log.segment(address, kPlace);
        log.pooled(address, kPlace - at % 100 * 16, at % 100 * 16, 1 + at % kStacks);
        if (at >= kLive)
            log.free(address_of_place(at - kLive));
        if (at % 1000 == 0)
            log.reusable();
    }
    write_to(path, log);
}

// Blocks that PyTorch's allocator cuts.
void write_torch_log(const std::string& path, std::uint64_t events)
{
    LogBuilder log;
    log.header().suballocated = 1;
    log.context(1);
    define_stacks(log);
    log.place({.context = 1, .device = 0});
    for_each_segment([&](std::uint64_t address) { log.alloc(address, kPieces * kPlace, 1); });
    for (std::uint64_t at = 0; at < events / 2; ++at) {
        log.alloc(address_of_place(at), kPlace - at % 100 * 16, 1 + at % kStacks, "PyTorch");
        if (at >= kLive)
            log.free(address_of_place(at - kLive), "PyTorch");
    }
    write_to(path, log);
}

long status_kib(const char* field)
{
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(field, 0) == 0)
            return std::atol(line.c_str() + std::string(field).size());
    }
    return 0;
}

double cpu_seconds()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Runs in a process of its own, so that its memory peak is that of the report.
void measure(std::uint64_t events, std::uint32_t threads, Pool pool)
{
    const std::string path = std::filesystem::temp_directory_path() /
                             ("report_bench." + std::to_string(::getpid()) + ".vsl");
    const pid_t writer = ::fork();
    if (writer == 0) {
        if (pool == Pool::none)
            write_log(path, events, threads);
        else if (pool == Pool::torch)
            write_torch_log(path, events);
        else
            write_pooled_log(path, events, pool);
        ::_exit(0);
    }
    ::waitpid(writer, nullptr, 0);
    const pid_t reader = ::fork();
    if (reader == 0) {
        const auto start = std::chrono::steady_clock::now();
        const double cpu_start = cpu_seconds();
        const auto report = vramscope::report::make_report({path});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        const double cpu = cpu_seconds() - cpu_start;
        constexpr const char* kWords[] = {"", " in cache", " in split", " of PyTorch"};
        const double millions = static_cast<double>(report.coverage.events) / 1e6;
        std::printf(
            "%9llu events, %2u threads%s: %.3f s, %.2f million events/s, %.2f in CPU time, peak "
            "%ld MiB, %llu blocks left\n",
            static_cast<unsigned long long>(report.coverage.events), threads,
            kWords[static_cast<int>(pool)], took.count(), millions / took.count(), millions / cpu,
            status_kib("VmHWM:") / 1024,
            static_cast<unsigned long long>(report.totals.leaked_blocks));
        std::fflush(stdout);
        ::_exit(0);
    }
    ::waitpid(reader, nullptr, 0);
    ::unlink(path.c_str());
}

void measure_all()
{
    for (const std::uint32_t threads : {1u, 4u, 64u}) {
        for (const std::uint64_t events : {1'000'000u, 10'000'000u})
            measure(events, threads, Pool::none);
    }
    for (const Pool pool : {Pool::cache, Pool::split, Pool::torch})
        measure(10'000'000, 1, pool);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 1) {
        measure_all();
        return 0;
    }
    constexpr std::string_view kModes[] = {"off", "cache", "split", "torch"}; // as Pool has them
    const std::uint64_t events = std::strtoull(argv[1], nullptr, 10);
    const auto* const mode = std::find(std::begin(kModes), std::end(kModes),
                                       argc > 2 ? std::string_view(argv[2]) : kModes[0]);
    if (events == 0 || argc > 3 || mode == std::end(kModes)) {
        std::fprintf(stderr, "usage: report_bench [EVENTS [off|cache|split|torch]]\n");
        return 2;
    }
    measure(events, 1, static_cast<Pool>(mode - std::begin(kModes)));
    return 0;
}
