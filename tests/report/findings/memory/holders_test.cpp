// tests/report/findings/memory/holders_test.cpp — who had the memory: rows that add up.
#include <sstream>

#include <gtest/gtest.h>

#include "report/findings/memory/memory.hpp"
#include "report/text/lines.hpp"
#include "report/text/views.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

constexpr std::uint64_t kSegment = 0x1'0000'0000;

// PyTorch's segment and blocks, cuBLAS, NCCL by way of a static runtime, and a program.
LogBuilder job()
{
    LogBuilder log = test::program_with_stacks();
    log.header().suballocated = 1;
    log.module(2, 0x600000, 0x600000, 0x700000, "/opt/libcublas.so.12", "blas");
    log.module(3, 0x800000, 0x800000, 0x900000, "/opt/libnccl.so.2", "nccl");
    log.module(4, 0xa00000, 0xa00000, 0xb00000, "/opt/libcudart.so.12", "cudart");
    log.stack(11, {0xa01001, 0x601001, 0x401001}).stack(12, {0x801001, 0x401001});
    log.place({.context = 1, .device = 0}).context(1);
    log.alloc(kSegment, 20_MiB).alloc(kSegment, 3_MiB, 1, "PyTorch");
    log.alloc(kSegment + 3_MiB, 4_MiB, 2, "PyTorch");
    log.alloc(0x1000, 8_MiB, 11).alloc(0x1000 + 8_MiB, 2_MiB, 11);
    log.alloc(0x1000 + 16_MiB, 6_MiB, 12).alloc(0x1000 + 32_MiB, 1_MiB, 3);
    log.device_memory(60_MiB, 100_MiB);
    log.free(kSegment + 3_MiB, "PyTorch").free(0x1000 + 16_MiB);
    return log;
}

MemoryReport device_in(const Report& report)
{
    return report.processes.at(0).memory.at(0);
}

using Row = std::tuple<HolderKind, std::string, std::string, std::uint64_t, std::uint64_t>;

std::vector<Row> rows_of(const std::vector<MemoryHolder>& holders)
{
    std::vector<Row> rows;
    for (const MemoryHolder& one : holders)
        rows.emplace_back(one.kind, one.name, one.library, one.bytes, one.blocks);
    return rows;
}

std::uint64_t sum_of(const std::vector<MemoryHolder>& holders)
{
    std::uint64_t sum = 0;
    for (const MemoryHolder& one : holders)
        sum += one.bytes;
    return sum;
}

TEST(Holders, AreAllocatorsAndModulesAndAddUp)
{
    const MemoryReport device = device_in(report_of(job()));
    EXPECT_EQ(rows_of(device.holders_at_end),
              (std::vector<Row>{{HolderKind::blocks, "PyTorch", "", 3_MiB, 1},
                                {HolderKind::cache, "PyTorch", "", 17_MiB, 0},
                                {HolderKind::module, "libcublas.so.12", "cuBLAS", 10_MiB, 2},
                                {HolderKind::module, "train", "", 1_MiB, 1},
                                {HolderKind::unattributed, "", "", 3_MiB, 0}}));
    EXPECT_EQ(sum_of(device.holders_at_end), device.at_end.parts.used);
    // The driver had not told anything yet.
    EXPECT_EQ(rows_of(device.holders_at_peak),
              (std::vector<Row>{{HolderKind::blocks, "PyTorch", "", 7_MiB, 2},
                                {HolderKind::cache, "PyTorch", "", 13_MiB, 0},
                                {HolderKind::module, "libcublas.so.12", "cuBLAS", 10_MiB, 2},
                                {HolderKind::module, "libnccl.so.2", "NCCL", 6_MiB, 1},
                                {HolderKind::module, "train", "", 1_MiB, 1}}));
    EXPECT_EQ(sum_of(device.holders_at_peak), device.at_peak.parts.reserved);
}

TEST(Holders, OfVeryManyModulesTheSmallOnesAreOneRow)
{
    LogBuilder log = test::program_with_stacks();
    log.place({.context = 1, .device = 0});
    for (std::uint64_t at = 0; at < 30; ++at) {
        const std::uint64_t base = 0x1000000 + at * 0x100000;
        log.module(10 + at, base, base, base + 0x100000, "/opt/lib" + std::to_string(at) + ".so");
        log.stack(100 + at, {base + 0x1001}).alloc(0x1000 + at * 8_MiB, (at + 1) << 10, 100 + at);
    }
    const MemoryReport device = device_in(report_of(log));
    ASSERT_EQ(device.holders_at_end.size(), kMostHolders);
    EXPECT_EQ(device.holders_at_end.front().name, "lib29.so");
    EXPECT_EQ(device.holders_at_end.back().name, "(others)");
    EXPECT_EQ(device.holders_at_end.back().blocks, 11u);
    EXPECT_EQ(sum_of(device.holders_at_end), device.at_end.parts.reserved);
}

TEST(Holders, WithoutAStackAreNotKnown)
{
    LogBuilder log;
    log.place({.context = 1, .device = 0}).alloc(0x1000, 1_MiB);
    const MemoryReport device = device_in(report_of(log));
    EXPECT_EQ(rows_of(device.holders_at_end),
              (std::vector<Row>{{HolderKind::unknown, "", "", 1_MiB, 1}}));
}

TEST(Holders, AreATableWhereSeveralShareTheDevice)
{
    std::ostringstream text;
    write_fragmentation(text, report_of(job()), {});
    EXPECT_NE(text.str().find("  cuBLAS (libcublas.so.12)                 10 MiB         10 MiB\n"),
              std::string::npos)
        << text.str();
    EXPECT_NE(text.str().find("  NCCL (libnccl.so.2)                       6 MiB            0 B\n"),
              std::string::npos)
        << text.str();
}

} // namespace
} // namespace vramscope::report
