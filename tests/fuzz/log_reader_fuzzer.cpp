// tests/fuzz/log_reader_fuzzer.cpp — any bytes give a report or an Error, never a crash.
//
// The report is printed, and all exports are written. The entry point is libFuzzer's; the corpus is
// for the driver beside it.
#include <cstdint>
#include <sstream>
#include <stdexcept>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/log/log_packing.hpp"
#include "report/text/views.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/log_builder.hpp"

using namespace vramscope;
using test::Bytes;
using test::LogBuilder;

namespace {

Bytes busy_log(std::uint32_t chunk_bytes)
{
    LogBuilder log(chunk_bytes);
    log.info("program", "train").device(0, 24ull << 30, "GPU").context(1);
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build-id");
    log.stack(1, {0x401000, 0x402000, 0x403000}).stack(2, {0x404000}, true);
    log.add(format::FrameName{1, 0x1fff, 1, "inner", "i", "a.cpp", 7, 5});
    log.add(format::FrameName{1, 0x1fff, 0, "outer", {}, "a.cpp", 9, 8});
    for (std::uint64_t round = 0; round < 30; ++round) {
        log.thread(static_cast<std::uint32_t>(round % 3))
            .thread_name(100, "worker")
            .place({.context = 1, .device = 0, .stream = round});
        log.push("step").alloc(0x10000 + round * 256, 1000 * round, 1 + round % 2).pop().mark("m");
        log.free(0x10000 + round * 512).failed(2, 77);
        log.alloc(round, 4096, 2, "cuMemCreate")
            .map(0x90000 + round * 4096, 4096, round)
            .retain(round);
        log.free(round, "cuMemRelease").unmap(0x90000, 8192);
    }
    log.context_gone(1).module_gone(1);
    return log.build();
}

Bytes pooled_log(std::uint32_t chunk_bytes)
{
    constexpr std::uint64_t kSegment = 1 << 21;
    LogBuilder log(chunk_bytes);
    log.info("pool.mode", "split").device(0, 24ull << 30, "GPU").context(1).context(2, 1);
    log.stack(1, {0x401000, 0x402000});
    for (std::uint64_t round = 0; round < 20; ++round) {
        const std::uint64_t base = 0x10000000 + round % 7 * kSegment;
        log.thread(static_cast<std::uint32_t>(round % 2)).place({.context = 1 + round % 2});
        log.segment(base, kSegment, 1 + round % 2, static_cast<std::int64_t>(round % 2));
        log.pooled(base, 1000, 24, 1).pooled(base + 1024, 512).free(base).reusable(500, true);
        log.pooled(base + 512, 300, 212).failed(2, kSegment).out_of_memory({.requested = kSegment});
        log.retried(kSegment, 0).damaged(format::Damage::overrun, base, 1000, 4, 1);
        log.segment_gone(base - round % 3 * kSegment);
    }
    log.context_gone(2);
    return log.build();
}

Bytes packed(const Bytes& log, std::size_t frame_bytes)
{
    const test::TempFile file(log);
    Bytes result;
    report::pack_log(
        report::LogFile::open(file.path()), {.frame_bytes = frame_bytes},
        [&](std::string_view piece) { result.insert(result.end(), piece.begin(), piece.end()); });
    return result;
}

} // namespace

const FuzzTarget fuzz_target = {"log_reader_fuzzer", 208}; // its header

std::vector<Bytes> fuzz_corpus()
{
    LogBuilder tsc;
    tsc.header().clock = format::Clock::tsc;
    tsc.header().latest_ticks = tsc.header().start_ticks + 3'000'000;
    tsc.header().latest_ns = tsc.header().start_ns + 1'000'000;
    tsc.alloc(0x1000, 256, 1).unused_chunk().alloc(0x1000, 512, 1);
    return {busy_log(512),
            busy_log(1024),
            busy_log(4096),
            pooled_log(512),
            pooled_log(4096),
            tsc.build(),
            packed(busy_log(512), 1024),
            packed(pooled_log(4096), 4096)};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const test::TempFile file(Bytes(data, data + size));
    try {
        report::Options options;
        options.all_frames = size % 2 == 0;
        const report::Report report = report::make_report({file.path()}, options);
        std::ostringstream out;
        report::write_report(out, report);
        report::write_summary(out, report);
        report::write_json(out, report);
        const auto print = [&](std::string_view piece) { out << piece; };
        report::ExportOptions how;
        how.all_frames = options.all_frames;
        report::export_events(file.path(), print);
        report::export_heaptrack(file.path(), print, how);
        report::export_pprof(file.path(), [](std::string_view) {});
        if (out.str().find('\x1b') != std::string::npos)
            throw std::logic_error("an escape character of the log reached the output");
    } catch (const report::Error&) {
        // The file is not a log: this is the answer that is wanted.
    }
    return 0;
}
