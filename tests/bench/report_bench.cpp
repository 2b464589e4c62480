// tests/bench/report_bench.cpp — events per second of a whole report, and its memory, over logs of
// growing length.
//
// The load: every allocation is freed 50,000 events later, so the live set stays the same however
// long the log is.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include "report/report.hpp"
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

long status_kib(const char* field)
{
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(field, 0) == 0)
            return std::atol(line.c_str() + std::string(field).size());
    }
    return 0;
}

// In a process of its own: the peak of its memory is that of the report.
void measure(std::uint64_t events, std::uint32_t threads)
{
    const std::string path = std::filesystem::temp_directory_path() /
                             ("report_bench." + std::to_string(::getpid()) + ".vsl");
    const pid_t writer = ::fork();
    if (writer == 0) {
        write_log(path, events, threads);
        ::_exit(0);
    }
    ::waitpid(writer, nullptr, 0);
    const pid_t reader = ::fork();
    if (reader == 0) {
        const auto start = std::chrono::steady_clock::now();
        const auto report = vramscope::report::make_report({path});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%9llu events, %2u threads: %.3f s, %.1f million events/s, peak %ld MiB, %llu "
                    "blocks left\n",
                    static_cast<unsigned long long>(report.coverage.events), threads, took.count(),
                    static_cast<double>(report.coverage.events) / took.count() / 1e6,
                    status_kib("VmHWM:") / 1024,
                    static_cast<unsigned long long>(report.totals.leaked_blocks));
        std::fflush(stdout);
        ::_exit(0);
    }
    ::waitpid(reader, nullptr, 0);
    ::unlink(path.c_str());
}

} // namespace

int main()
{
    for (const std::uint32_t threads : {1u, 4u, 64u}) {
        for (const std::uint64_t events : {1'000'000u, 10'000'000u})
            measure(events, threads);
    }
    return 0;
}
