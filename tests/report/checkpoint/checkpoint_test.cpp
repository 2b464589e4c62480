// tests/report/checkpoint/checkpoint_test.cpp — a replay that begins at a checkpoint ends as one of
// the whole log.
//
// A checkpoint is all that a replay knows, and equal ones are equal bytes. So the oracle is the
// checkpoint at the end of the whole log. A failure names its seed; VRAMSCOPE_TEST_SEEDS is how
// many programs are played.
#include "report/checkpoint/checkpoint.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "tests/support/random_program.hpp"

namespace vramscope::report {
namespace {

using test::Layout;
using test::LogBuilder;
using test::random_program;
using test::Step;
using test::TempFile;
using test::written;

struct Replayed {
    explicit Replayed(const TempFile& log, std::uint64_t until_ticks = UINT64_MAX)
        : file(LogFile::open(log.path())),
          reading(file, {.until_ticks = until_ticks, .runs_on = true}),
          replays(reading.tables(), file.header(), reading.clock(), until_ticks,
                  {.site_peaks = true})
    {
    }

    std::string read()
    {
        reading.read_ahead(replays.heap, {},
                           [this](const RecordBatch& batch, const SegmentReplay& pool) {
                               replays.apply(batch, pool);
                           });
        return checkpoint_of(reading, replays);
    }
    // From a checkpoint on, if there is one.
    std::string read_from(const std::string& checkpoint)
    {
        if (!checkpoint.empty())
            restore_checkpoint(checkpoint, reading, replays);
        return read();
    }

    LogFile file;
    Reading reading;
    Replays replays;
};

std::string read_all(const TempFile& log, const std::string& checkpoint = {})
{
    // Once more from its own checkpoint: what does not matter any more is not kept.
    return Replayed(log).read_from(Replayed(log).read_from(checkpoint));
}

std::uint32_t seeds()
{
    const char* const wanted = std::getenv("VRAMSCOPE_TEST_SEEDS");
    return wanted ? static_cast<std::uint32_t>(std::atoi(wanted)) : 40;
}

// Anything that a log may hold beside what random programs do.
LogBuilder varied_log()
{
    LogBuilder log(1024);
    log.info("pool.mode", "split").device(0, 24ull << 30, "GPU").context(1);
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
    log.stack(1, {0x401000, 0x402000}).stack(2, {0x403000}, true);
    for (std::uint64_t round = 0; round < 30; ++round) {
        log.thread(static_cast<std::uint32_t>(round % 3))
            .thread_name(100 + static_cast<std::uint32_t>(round % 3), "worker");
        log.place({.context = 1, .device = 0, .stream = round});
        log.push("step " + std::to_string(round)).alloc(0x10000 + round * 0x1000, 1000 + round, 1);
        log.add(format::Test{format::TestState::began, "A." + std::to_string(round)});
        log.pop().mark("end of step").failed(2, 1 << 20).failed_free(0x123, 2);
        log.alloc(round + 1, 4096, 2, "cuMemCreate").map(0x90000 + round * 4096, 4096, round + 1);
        log.retain(round + 1).free(round + 1, "cuMemRelease");
        log.segment(0x7000000 + (round << 21), 1 << 21)
            .pooled(0x7000000 + (round << 21), 4000, 96, 1);
        log.device_memory(1 << 20, 1 << 30);
        log.out_of_memory({.requested = 1 << 20, .free = 1 << 10, .total = 1 << 30});
        if (round % 2 == 0)
            log.free(0x7000000 + (round << 21)).free(0x10000 + round * 0x1000);
        if (round % 4 == 0)
            log.reusable();
        if (round == 20)
            log.context_gone(1);
    }
    return log;
}

// Blocks that an allocator of the program's cuts from its segments: given back while another stream
// uses them, named, resized, retried, and gone with their heap.
LogBuilder allocators_log()
{
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    LogBuilder log(1024);
    log.header().suballocated = 1;
    log.device(0, 24ull << 30, "GPU").context(1).stack(1, {0x401000}).stack(2, {0x402000}, true);
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
    log.place({.context = 1, .device = 0}).blocks_pending("PyTorch", 0);
    for (std::uint64_t round = 0; round < 30; ++round) {
        const std::uint64_t segment = kSegment + (round << 25);
        log.push("step").alloc(segment, 20 << 20, 1).pop();
        for (std::uint64_t at = 0; at < 4; ++at)
            log.alloc(segment + (at << 20), 1000 + round, 2, "PyTorch")
                .block_name("PyTorch", segment + (at << 20), "block " + std::to_string(at));
        log.cut_from("PyTorch", segment, 2 << 20, format::BlockSize::small);
        log.awaited("PyTorch", segment, false).free(segment, "PyTorch");
        log.blocks_pending("PyTorch", round << 10);
        if (round % 2 == 0)
            log.awaited("PyTorch", segment, true);
        log.free(segment + (1 << 20), "PyTorch").alloc(segment + (1 << 20), 4000, 2, "PyTorch");
        log.out_of_memory({.requested = 2 << 20, .free = 1 << 10, .total = 1 << 30});
        log.retried(2 << 20, 2);
        log.alloc(segment + (12 << 20), 2 << 20, 1).free(segment + (12 << 20));
        log.alloc(segment + (8 << 20), 4096, 1, "a heap").blocks_gone("a heap", segment, 16 << 20);
        if (round % 3 == 0)
            log.free(segment);
    }
    return log;
}

TEST(Checkpoint, ALogThatIsReadInPartsIsReplayedAsAWhole)
{
    for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const std::vector<Step> steps = random_program(seed, {.nonsense = seed % 5 == 0});
        const TempFile log(
            written(steps, {.chunk_bytes = 1024, .new_chunks = seed % 20, .seed = seed}).build());
        std::string checkpoint;
        for (std::size_t step = random() % 100; step < steps.size(); step += 1 + random() % 100)
            checkpoint = Replayed(log, steps[step].ticks).read_from(checkpoint);
        ASSERT_EQ(read_all(log, checkpoint), read_all(log));
    }
}

// The file grows, and its last chunks with it, while a checkpoint is made again and again.
TEST(Checkpoint, ALogThatGrowsIsReplayedAsAWhole)
{
    for (std::uint32_t seed = 1; seed <= seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        const std::vector<Step> steps = random_program(seed, {.late_frees = false});
        const Layout layout{.chunk_bytes = 1024, .new_chunks = seed % 20, .seed = seed};
        std::string checkpoint;
        for (std::size_t step = random() % 100; step < steps.size(); step += 1 + random() % 100) {
            const std::vector<Step> done(steps.begin(),
                                         steps.begin() + static_cast<std::ptrdiff_t>(step));
            checkpoint = Replayed(TempFile(written(done, layout).build())).read_from(checkpoint);
        }
        const TempFile log(written(steps, layout).build());
        ASSERT_EQ(read_all(log, checkpoint), read_all(log));
    }
}

TEST(Checkpoint, EachKindOfRecordIsInIt)
{
    for (LogBuilder& built : std::array{varied_log(), allocators_log()}) {
        const TempFile log(built.build());
        const std::string whole = read_all(log);
        for (std::uint64_t until = 0; until < built.now(); until += 23'000)
            ASSERT_EQ(read_all(log, Replayed(log, until).read()), whole) << until;
    }
}

std::string refusal_of(const std::string& checkpoint, const TempFile& log)
{
    try {
        Replayed(log).read_from(checkpoint);
    } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::bad_input);
        return error.what();
    }
    return {};
}

TEST(Checkpoint, WhatIsNoneOfThisLogIsRefusedInOneLine)
{
    const TempFile log(varied_log().build());
    const std::string checkpoint = Replayed(log).read();
    LogBuilder other = varied_log();
    other.header().start_real_ns += 1;
    EXPECT_NE(refusal_of(checkpoint, TempFile(other.build())).find("of another log"),
              std::string::npos);
    EXPECT_NE(refusal_of("vramscope", log).find("it is cut"), std::string::npos);
    for (std::size_t bytes = 1; bytes < checkpoint.size(); bytes += 97)
        ASSERT_NE(refusal_of(checkpoint.substr(0, bytes), log).find("it is cut"),
                  std::string::npos);
    std::string newer = checkpoint;
    newer[8] = '9';
    EXPECT_NE(refusal_of(newer, log).find("another version"), std::string::npos);
    for (std::size_t at = 88; at < checkpoint.size(); at += 97) {
        std::string damaged = checkpoint;
        damaged[at] = static_cast<char>(damaged[at] + 1);
        ASSERT_NE(refusal_of(damaged, log).find("it is damaged"), std::string::npos) << at;
    }
}

// Its checksum becomes that of what it says now: FNV-1a, at byte 80, of all behind it.
void seal(std::string& checkpoint)
{
    std::uint64_t sum = 0xcbf29ce484222325u;
    for (std::size_t at = 88; at < checkpoint.size(); ++at)
        sum = (sum ^ static_cast<std::uint8_t>(checkpoint[at])) * 0x100000001b3u;
    std::memcpy(&checkpoint[80], &sum, sizeof sum);
}

// Whoever makes one up can make its checksum too. It is refused, or read on without a fault.
TEST(Checkpoint, OneThatIsMadeToHurtIsRefusedOrReadOn)
{
    const TempFile log(varied_log().build());
    const std::uint64_t half = varied_log().now() / 2;
    const std::string checkpoint = Replayed(log, half).read();
    std::mt19937 random(1);
    for (std::size_t at = 88; at < checkpoint.size(); ++at) {
        std::string hostile = checkpoint;
        const std::uint8_t bytes[] = {0, 1, 0x7f, 0xff, static_cast<std::uint8_t>(random())};
        hostile[at] = static_cast<char>(bytes[random() % std::size(bytes)]);
        seal(hostile);
        try {
            Replayed replayed(log);
            replayed.read_from(hostile);
            replayed.replays.finish();
        } catch (const Error&) {
        }
    }
}

} // namespace
} // namespace vramscope::report
