// tests/report/exporters/memory_exports_test.cpp — what of made-up logs is exported of memory.
//
// Texts are exact, and sums are those of the report, whatever the log says.
#include <array>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/exporters/torch/device_reading.hpp"
#include "report/log/log_file.hpp"
#include "tests/report/exporters/export_sums.hpp"

namespace vramscope::report {
namespace {

TEST(Heaptrack, IsATextOfItsFirstVersion)
{
    LogBuilder log;
    log.info("command", "./train \"a\nb\"").device(0, 4096 * 16, "GPU");
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/train").stack(5, {0x401001, 0x402001});
    log.place({.context = 1, .device = 0}).at(3'000'000);
    log.alloc(0x1000, 256, 5).alloc(0x2000, 256, 5).alloc(0x3000, 16, 5).free(0x1000);
    EXPECT_EQ(exported(export_heaptrack, log), "v 10400 1\n"
                                               "# written by vramscope\n"
                                               "X ./train \"a\\x0ab\"\n"
                                               "I 1000 10\n"
                                               "c 2\n"
                                               "s /gone/train\n"
                                               "s train+0x2000\n"
                                               "i 2000 1 2 0 0\n"
                                               "t 1 0\n"
                                               "s train+0x1000\n"
                                               "i 1000 1 3 0 0\n"
                                               "t 2 1\n"
                                               "a 0 2\n"
                                               "a 100 2\n"
                                               "+ 1\n"
                                               "+ 1\n"
                                               "a 10 2\n"
                                               "+ 2\n"
                                               "- 1\n");
}

TEST(Heaptrack, HasDeviceMemoryAlone)
{
    LogBuilder log;
    log.place({.context = 1, .device = 1});
    log.alloc(0x1000, 100).alloc(0x2000, 1000, 0, "cuMemHostAlloc");
    log.alloc(0x3000, 10000, 0, "cuMemAddressReserve");
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log)).leaked, 100u);
    ExportOptions other;
    other.device = 0;
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log, other)).allocations, 0u);
    other.device = 1;
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, log, other)).leaked, 100u);
}

TEST(Heaptrack, FreesWhatGoesWithAContextUnlessTheExitTookIt)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100).alloc(0x2000, 11);
    log.context_gone(1).alloc(0x3000, 50);
    const HeaptrackSums during(exported(export_heaptrack, log));
    EXPECT_EQ(during.leaked, 50u);
    EXPECT_EQ(during.peak, 111u);

    LogBuilder at_exit;
    at_exit.context(1).place({.context = 1, .device = 0}).alloc(0x1000, 100);
    at_exit.header().exit_began_ticks = at_exit.now();
    at_exit.context_gone(1);
    EXPECT_EQ(HeaptrackSums(exported(export_heaptrack, at_exit)).leaked, 100u);
}

TEST(Heaptrack, CountsTemporaryAllocations)
{
    LogBuilder log;
    log.alloc(0x1000, 1).free(0x1000).alloc(0x2000, 2).alloc(0x3000, 3).free(0x3000).free(0x2000);
    const HeaptrackSums sums(exported(export_heaptrack, log));
    EXPECT_EQ(sums.allocations, 3u);
    EXPECT_EQ(sums.temporary, 2u);
}

// What an allocator cut its blocks from is not an allocation of the program's.
TEST(Heaptrack, HasBlocksAndNotWhatTheyWereCutFrom)
{
    const HeaptrackSums sums(exported(export_heaptrack, test::program_that_cuts()));
    EXPECT_EQ(sums.allocations, 3u);
    EXPECT_EQ(sums.peak, 12u << 20);
    EXPECT_EQ(sums.leaked, 8u << 20);
}

TEST(Blocks, AreLinesWhoseTextsAreQuotedAndSafe)
{
    LogBuilder log;
    log.module(1, 0x400000, 0x400000, 0x500000, "/gone/a\"b,\n\xff").stack(5, {0x401001});
    log.context(1).place({.context = 1, .device = 0}).thread_name(77, "worker");
    log.push("epoch, 1").push("step").alloc(0x1000, 256, 5).pop().pop();
    log.alloc(0x2000, 7, 0, "cuMemHostAlloc").free(0x1000).context_gone(1);
    const std::string text = exported(export_blocks, log);
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "allocated_ns,freed_ns,end,bytes,address,memory,device,tid,phase,api,function,file,"
              "line,fingerprint,stack");
    std::istringstream lines(text);
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    EXPECT_NE(line.find(",freed,256,0x1000,device,0,77,\"epoch, 1/step\",cuMemAlloc,,,,"),
              line.npos)
        << line;
    EXPECT_TRUE(line.ends_with(",\"a\"\"b,\\x0a\\xff+0x1000\"")) << line;
    std::getline(lines, line);
    EXPECT_NE(line.find(",context,7,0x2000,pinned,"), line.npos) << line;
    EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST(Blocks, AreThoseThatWereCutAndNotWhatTheyWereCutFrom)
{
    const LogBuilder log = test::program_that_cuts();
    EXPECT_EQ(BlockSums(exported(export_blocks, log)).sums, sums_of(test::report_of(log).totals));
}

// Any log: addresses that come again, frees of nothing, contexts that die, several threads.
LogBuilder random_log(std::uint32_t seed)
{
    constexpr std::array kApis{"cuMemAlloc_v2", "cuMemHostAlloc", "cuMemAllocManaged",
                               "cuMemAllocAsync", "cuMemAddressReserve"};
    constexpr std::array kFrees{"cuMemFree_v2", "cuMemFreeHost", "cuMemFree_v2", "cuMemFreeAsync",
                                "cuMemAddressFree"};
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t bound) { return std::uint64_t{random() % bound}; };
    LogBuilder log = test::program_with_stacks();
    log.context(1).context(2);
    for (int event = 0; event < 400; ++event) {
        log.thread(static_cast<std::uint32_t>(below(3)));
        log.place({.context = below(3), .device = static_cast<std::int64_t>(below(3)) - 1});
        const std::uint64_t address = 0x1000 + below(40) * 0x1000;
        const std::size_t api = below(kApis.size());
        const std::uint64_t what = below(100);
        if (what < 55)
            log.alloc(address, below(5000), below(10), kApis[api]);
        else if (what < 98)
            log.free(address, kFrees[api]);
        else
            log.context_gone(1 + below(2));
    }
    if (seed % 2 == 0)
        log.header().exit_began_ticks = log.now() / 2;
    return log;
}

TEST(MemoryExports, OfAnyLogSumUpWhatTheReportDoes)
{
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        const LogBuilder log = random_log(seed);
        const Report report = test::report_of(log);
        EXPECT_EQ(pprof_sums(exported(export_pprof, log)), sums_of(report.totals)) << seed;
        const BlockSums blocks(exported(export_blocks, log));
        EXPECT_EQ(blocks.sums, sums_of(report.totals)) << seed;
        const HeaptrackSums heaptrack(exported(export_heaptrack, log));
        std::uint64_t leaked = 0;
        for (const Leak& leak : report.leaks) {
            if (class_of(leak.memory) == format::MemoryClass::device &&
                leak.kind != LeakKind::at_reset)
                leaked += leak.bytes;
        }
        if (seed % 2 != 0) { // otherwise contexts that died at the exit are live to heaptrack
            EXPECT_EQ(heaptrack.leaked, leaked) << seed;
            EXPECT_EQ(heaptrack.peak, report.totals.peak_device_bytes) << seed;
            EXPECT_EQ(blocks.peak, report.totals.peak_device_bytes) << seed;
        }
    }
}

// They have handles, which are closer to one another than the bytes.
TEST(TorchSnapshotExport, EachArrayIsASegmentOfItsOwn)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0});
    for (const std::uint64_t handle : {0x5000, 0x5010, 0x5020})
        log.alloc(handle, 3 << 20, 0, "cuArrayCreate_v2");
    log.free(0x5010, "cuArrayDestroy");
    const test::TempFile bytes(log.build());
    const LogFile file = LogFile::open(bytes.path());
    DeviceReading reading(file, UINT64_MAX, 0, [](const TorchTraceEvent&) {});
    reading.read({});
    const DeviceState state = reading.take_state();
    ASSERT_EQ(state.segments.size(), 2u);
    ASSERT_EQ(state.blocks.size(), 2u);
    const auto& [first, memory] = *state.segments.begin();
    EXPECT_EQ(memory.bytes, 3u << 20);
    EXPECT_GE(state.segments.rbegin()->first, first + memory.bytes);
    EXPECT_EQ(state.blocks.begin()->first, first);
}

// A range's name in Latin-1, and one that was cut inside a character.
TEST(TorchSnapshotExport, ASegmentThatEndsBehindAllAddressesHasItsBlocks)
{
    LogBuilder log;
    log.device(0, 1 << 30, "GPU").context(1).segment(0x1000, UINT64_MAX);
    log.pooled(0x2000, 512).pooled(UINT64_MAX - 600, 512).pooled(0x3000, UINT64_MAX);
    EXPECT_NE(exported(export_torch_snapshot, log).find("active_allocated"), std::string::npos);
}

TEST(TorchSnapshotExport, NamesThatAreNoUtf8AreReplacedByteByByte)
{
    LogBuilder log;
    log.context(1).place({.context = 1, .device = 0});
    log.push("caf\xe9").alloc(0x1000, 512).pop();
    log.push("gr\xc3\xb6\xc3").alloc(0x2000, 512).pop();
    const std::string pickle = exported(export_torch_snapshot, log);
    EXPECT_NE(pickle.find("caf\xef\xbf\xbd"), std::string::npos);
    EXPECT_NE(pickle.find("gr\xc3\xb6\xef\xbf\xbd"), std::string::npos);
    EXPECT_EQ(pickle.find("caf\xe9"), std::string::npos);
}

} // namespace
} // namespace vramscope::report
