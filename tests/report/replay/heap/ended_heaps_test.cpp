// tests/report/replay/heap/ended_heaps_test.cpp — blocks end with what they were cut from.
#include <gtest/gtest.h>

#include "report/model/report.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

using namespace vramscope;
using namespace vramscope::report;
using test::LogBuilder;
using test::operator""_MiB;

namespace {

constexpr std::uint64_t kHeap = 0x1'0000'0000;

// A heap of 8 MiB with two blocks, and one of PyTorch's after them.
LogBuilder cut_heap()
{
    LogBuilder log;
    log.header().suballocated = 1;
    log.place({.context = 1, .device = 0}).context(1).alloc(kHeap, 8_MiB).place({.device = -1});
    log.alloc(kHeap, 1_MiB, 0, "a heap").alloc(kHeap + 1_MiB, 2_MiB, 0, "a heap");
    log.alloc(kHeap + 3_MiB, 4_MiB, 0, "PyTorch");
    return log;
}

} // namespace

TEST(EndedHeaps, TakeTheirBlocksAlong)
{
    const Report report = test::report_of(cut_heap().free(kHeap));
    EXPECT_EQ(report.verdict, Verdict::clean);
    EXPECT_EQ(report.totals.allocations, 3u);
    EXPECT_EQ(report.totals.frees, 3u);
    EXPECT_EQ(report.totals.peak_device_bytes, 7_MiB);
    ASSERT_EQ(report.processes[0].memory.size(), 1u);
    EXPECT_EQ(report.processes[0].memory[0].at_end.parts.reserved, 0u);
}

TEST(EndedHeaps, ThatKeepTheirMemoryLoseTheBlocksOfTheirAllocator)
{
    LogBuilder log = cut_heap();
    log.blocks_gone("a heap", kHeap, 8_MiB);
    const Report report = test::report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].api, "PyTorch");
    EXPECT_EQ(report.leaks[0].device, 0); // that of what it was cut from
}

TEST(EndedHeaps, LeaveOthersAlone)
{
    LogBuilder log = cut_heap();
    log.blocks_gone("a heap", kHeap + 1_MiB, 8_MiB).blocks_gone("a heap", kHeap - 8_MiB, 8_MiB);
    const Report report = test::report_of(log);
    ASSERT_EQ(report.leaks.size(), 2u);
    EXPECT_EQ(report.leaks[0].bytes, 4_MiB);
    EXPECT_EQ(report.leaks[1].bytes, 1_MiB);
}
