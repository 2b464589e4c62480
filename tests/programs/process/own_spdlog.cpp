// tests/programs/process/own_spdlog.cpp — a program with its own spdlog and fmt.
//
// It catches their exceptions.
//
// Our own command line uses the same libraries; nothing of them may be in the preload.
#include <memory>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "tests/programs/driver_program.hpp"

int main()
{
    const auto log =
        std::make_shared<spdlog::logger>("own", std::make_shared<spdlog::sinks::stdout_sink_mt>());
    log->set_pattern("[%n] %v");
    primary_context();
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        check(cuMemAlloc_v2(&block, 3000)); // MARK own_spdlog
    check(cuMemFree_v2(blocks[0]));
    log->info("{} blocks of {:>6} bytes", 2, 3000);
    try {
        log->info("{}", fmt::vformat("{:d}", fmt::make_format_args("no number")));
    } catch (const fmt::format_error& error) {
        log->error("caught: {}", error.what());
    }
    try {
        spdlog::throw_spdlog_ex("thrown");
    } catch (const spdlog::spdlog_ex& error) {
        log->error("caught: {}", error.what());
    }
    return 0;
}
