// tests/bench/report_bench.cpp — events per second and memory of a whole report.
//
//   report_bench [EVENTS [off|cache|split]]
//
// Without arguments: logs of 1 and 10 million events, of 1, 4 and 64 threads, and with each pool.
// On one core, by `taskset -c 0`, nothing is read ahead. CPU time is that of the report alone.
//
// It measures logs of growing length. In each, every allocation is freed 50,000 events later, so
// the live set stays the same however long the log is. With a pool, the blocks are segments of
// their own, or pieces of segments.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

void write_log(const std::string& path, std::uint64_t events, std::uint32_t threads)
{
    LogBuilder log;
    for (std::uint64_t id = 1; id <= kStacks; ++id)
        log.stack(id, {0x400000 + id * 16, 0x500000, 0x500100, 0x500200});
    for (std::uint64_t at = 0; at < events / 2; ++at) {
        log.thread(static_cast<std::uint32_t>(at % threads)).place({.context = 1, .device = 0});
        log.alloc(0x7f0000000000 + at * 2654435761 % (1u << 24) * 512, 512 + at % 100 * 256,
                  1 + at % kStacks);
        if (at >= kLive)
            log.free(0x7f0000000000 + (at - kLive) * 2654435761 % (1u << 24) * 512);
    }
    const vramscope::test::Bytes bytes = log.build();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

enum class Pool { none, cache, split };

// There are twice as many places as live blocks, and a synchronisation every 1000 allocations.
void write_pooled_log(const std::string& path, std::uint64_t events, Pool pool)
{
    constexpr std::uint64_t kPlaces = 2 * kLive;
    constexpr std::uint64_t kPlace = 64 << 10;
    constexpr std::uint64_t kPieces = 320;
    LogBuilder log;
    log.info("pool.mode", pool == Pool::cache ? "cache" : "split").context(1);
    for (std::uint64_t id = 1; id <= kStacks; ++id)
        log.stack(id, {0x400000 + id * 16, 0x500000, 0x500100, 0x500200});
    log.place({.context = 1, .device = 0});
    for (std::uint64_t at = 0; at < events / 2; ++at) {
        const std::uint64_t place = at * 7919 % kPlaces;
        const std::uint64_t address = 0x7f0000000000 + place * kPlace;
        const bool first = at < kPlaces;
        if (first && pool == Pool::cache)
            log.segment(address, kPlace);
        if (at == 0 && pool == Pool::split)
            for (std::uint64_t segment = 0; segment * kPieces < kPlaces; ++segment)
                log.segment(0x7f0000000000 + segment * kPieces * kPlace, kPieces * kPlace);
        log.pooled(address, kPlace - at % 100 * 16, at % 100 * 16, 1 + at % kStacks);
        if (at >= kLive)
            log.free(0x7f0000000000 + (at - kLive) * 7919 % kPlaces * kPlace);
        if (at % 1000 == 0)
            log.reusable();
    }
    const vramscope::test::Bytes bytes = log.build();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
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
        constexpr const char* kWords[] = {"", " in cache", " in split"};
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
    for (const Pool pool : {Pool::cache, Pool::split})
        measure(10'000'000, 1, pool);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 1) {
        measure_all();
        return 0;
    }
    const std::uint64_t events = std::strtoull(argv[1], nullptr, 10);
    const std::string_view mode = argc > 2 ? argv[2] : "off";
    if (events == 0 || argc > 3 || (mode != "off" && mode != "cache" && mode != "split")) {
        std::fprintf(stderr, "usage: report_bench [EVENTS [off|cache|split]]\n");
        return 2;
    }
    measure(events, 1, mode == "cache" ? Pool::cache : mode == "split" ? Pool::split : Pool::none);
    return 0;
}
