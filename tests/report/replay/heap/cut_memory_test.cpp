// tests/report/replay/heap/cut_memory_test.cpp — blocks count, and not what they were cut from.
#include "report/replay/heap/cut_memory.hpp"

#include <gtest/gtest.h>

#include "report/model/report.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

using namespace vramscope;
using namespace vramscope::report;
using test::LogBuilder;
using test::operator""_MiB;

namespace {

constexpr std::uint64_t kSegment = 0x1'0000'0000;
constexpr std::uint64_t kMapped = 0x2'0000'0000;

class CutLog : public LogBuilder {
public:
    CutLog()
    {
        header().suballocated = 1;
        place({.context = 1, .device = 0}).context(1);
    }
    CutLog& cut(std::uint64_t address, std::uint64_t bytes, std::uint64_t stack = 0)
    {
        alloc(address, bytes, stack, "PyTorch");
        return *this;
    }
    CutLog& give_back(std::uint64_t address)
    {
        free(address, "PyTorch");
        return *this;
    }
};

const MemoryReport& device_of(const Report& report)
{
    return report.processes.at(0).memory.at(0);
}

} // namespace

TEST(CutMemory, CountsOnceAtEachMoment)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 3_MiB).cut(kSegment + 3_MiB, 1_MiB).give_back(kSegment);
    const Report report = test::report_of(log);
    const MemoryReport& device = device_of(report);
    EXPECT_EQ(device.at_peak.parts.allocated, 4_MiB);
    EXPECT_EQ(device.at_peak.parts.kept, 16_MiB);
    EXPECT_EQ(device.at_reserved_peak.parts.reserved, 20_MiB);
    EXPECT_EQ(device.at_end.parts.requested, 1_MiB);
    EXPECT_TRUE(device.at_end.parts.adds_up());
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].bytes, 1_MiB);
    EXPECT_EQ(report.totals.peak_device_bytes, 4_MiB);
    EXPECT_EQ(report.totals.allocated_bytes, 4_MiB);
    ASSERT_EQ(device.allocators.size(), 1u);
    EXPECT_EQ(device.allocators[0].name, "PyTorch");
    EXPECT_EQ(device.allocators[0].reserved.current, 20_MiB);
}

// Seven MiB are active when the third block comes, though five are allocated.
TEST(CutMemory, IsActiveWhileAnotherStreamUsesWhatWasGivenBack)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB).blocks_pending("PyTorch", 0);
    log.cut(kSegment, 2_MiB).cut(kSegment + 2_MiB, 3_MiB).give_back(kSegment);
    log.blocks_pending("PyTorch", 2_MiB).blocks_pending("PyTorch", 64_MiB, 1);
    log.cut(kSegment + 5_MiB, 2_MiB).give_back(kSegment + 5_MiB);
    const auto active = [](const LogBuilder& built) {
        return device_of(test::report_of(built)).allocators.at(0).active.value_or(Stat{});
    };
    EXPECT_EQ(active(log).current, 5_MiB);
    log.give_back(kSegment + 2_MiB).blocks_pending("PyTorch", 0);
    EXPECT_EQ(active(log).current, 0u);
    EXPECT_EQ(active(log).peak, 7_MiB);
    EXPECT_EQ(active(log).allocated, 7_MiB);
    EXPECT_EQ(active(log).freed, 7_MiB);
}

TEST(CutMemory, HasNoActiveBytesWhereNobodyTold)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 2_MiB);
    EXPECT_EQ(device_of(test::report_of(log)).allocators.at(0).active, std::nullopt);
    log.blocks_pending("PyTorch", 0).info("active.off", "why");
    EXPECT_EQ(device_of(test::report_of(log)).allocators.at(0).active, std::nullopt);
}

TEST(CutMemory, HasTheLastNameOfEachBlock)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 2_MiB).block_name("PyTorch", kSegment, "of a block before");
    log.give_back(kSegment);
    for (const std::uint64_t at : {0_MiB, 2_MiB, 4_MiB, 6_MiB})
        log.cut(kSegment + at, 2_MiB, 7);
    for (const auto& [at, name] : {std::pair{2_MiB, "q"}, {2_MiB, "k"}, {6_MiB, "v"}, {4_MiB, "v"}})
        log.block_name("PyTorch", kSegment + at, name);
    log.block_name("a heap", kSegment, "of another allocator");
    const Report report = test::report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].names, (std::vector<std::string>{"k", "v"}));
}

TEST(CutMemory, KeepsItsNameWhereItIsResized)
{
    constexpr const char* kKeeps = "";
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    const auto resize = [&log](std::uint64_t at) {
        log.give_back(at).cut(at, 3_MiB, 7).block_name("PyTorch", at, kKeeps);
    };
    for (const std::uint64_t at : {kSegment, kSegment + 4_MiB, kSegment + 8_MiB})
        log.cut(at, 1_MiB, 7);
    log.block_name("PyTorch", kSegment, "k").block_name("PyTorch", kSegment + 4_MiB, "v");
    resize(kSegment);
    resize(kSegment);
    resize(kSegment + 8_MiB);                                        // has no name to keep
    log.give_back(kSegment + 4_MiB).cut(kSegment + 4_MiB, 1_MiB, 7); // is another one
    resize(kSegment + 4_MiB);
    const Report report = test::report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].names, (std::vector<std::string>{"k"}));
}

// A damaged log may name any entry point.
TEST(CutMemory, OfAnAllocatorThatTheLogDoesNotNameIsNobodys)
{
    for (const std::uint64_t api : {40u, 65'535u, UINT32_MAX}) {
        LogBuilder log = test::program_with_stacks();
        log.place({.context = 1, .device = 0}).alloc(0x200000, 2_MiB, 1);
        log.add(format::CutFrom{{api}, {0x200000}, 2_MiB, format::BlockSize::large});
        log.add(format::BlocksPending{{api}, 0, 4096});
        const Report report = test::report_of(log);
        EXPECT_EQ(report.processes[0].coverage.undefined_events, 1u);
        EXPECT_EQ(report.verdict, Verdict::inconclusive);
        EXPECT_TRUE(report.processes[0].memory[0].allocators.empty());
    }
}

TEST(CutMemory, AloneIsNoLeak)
{
    CutLog log;
    log.alloc(kSegment, 2_MiB);
    log.cut(kSegment, 1_MiB).give_back(kSegment);
    EXPECT_EQ(test::report_of(log).verdict, Verdict::clean);
}

TEST(CutMemory, WasNeverTheProgramsEvenIfItIsCutLate)
{
    CutLog log;
    log.alloc(kSegment, 64_MiB).alloc(kSegment + 64_MiB, 8_MiB).free(kSegment + 64_MiB);
    log.cut(kSegment + 1_MiB, 1_MiB);
    EXPECT_EQ(device_of(test::report_of(log)).at_peak.parts.allocated, 8_MiB);
}

TEST(CutMemory, IsKnownWithoutTheHeadersWord)
{
    CutLog log;
    log.header().suballocated = 0;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 1_MiB);
    const Report report = test::report_of(log);
    EXPECT_EQ(device_of(report).at_end.parts.requested, 1_MiB);
    EXPECT_EQ(report.leaks.size(), 1u);
}

TEST(CutMemory, MayBeMappedFromManyHandles)
{
    CutLog log;
    for (std::uint64_t at = 0; at < 3; ++at)
        log.alloc(100 + at, 2_MiB, 0, "cuMemCreate").map(kMapped + at * 2_MiB, 2_MiB, 100 + at);
    log.cut(kMapped + 1_MiB, 4_MiB);
    const Report report = test::report_of(log);
    EXPECT_EQ(device_of(report).at_end.parts.reserved, 6_MiB);
    EXPECT_EQ(device_of(report).at_peak.parts.allocated, 4_MiB);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].memory, format::Memory::suballocated);
}

TEST(CutMemory, IsMappedPieceByPieceAtTheEndForAPage)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 4_MiB).cut(kSegment + 4_MiB, 1_MiB).give_back(kSegment);
    const test::TempFile file(log.build());
    Options options;
    options.for_page = true;
    const Report report = make_report({file.path()}, options);
    ASSERT_EQ(report.processes.at(0).allocator_maps.size(), 1u);
    const AllocatorMap& map = report.processes[0].allocator_maps[0];
    EXPECT_EQ(map.allocator, "PyTorch");
    EXPECT_EQ(map.device, 0);
    EXPECT_EQ(map.at_end.largest_gap, 15_MiB);
    ASSERT_EQ(map.at_end.segments.size(), 1u);
    const std::vector<BlockPiece>& blocks = map.at_end.segments[0].blocks;
    ASSERT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[0].state, BlockState::inactive);
    EXPECT_EQ(blocks[0].bytes, 4_MiB);
    EXPECT_EQ(blocks[1].state, BlockState::active_allocated);
    EXPECT_EQ(blocks[1].bytes, 1_MiB);
    EXPECT_EQ(blocks[1].owner, 0u);
    EXPECT_TRUE(test::report_of(log).processes.at(0).allocator_maps.empty());
}

TEST(CutMemory, GoesWithItsContextAndTakesItsBlocksAlong)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 1_MiB).context_gone(1);
    const Report report = test::report_of(log);
    EXPECT_EQ(device_of(report).at_end.parts.reserved, 0u);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].kind, LeakKind::at_reset);
}

TEST(CutMemory, ThatNobodyAllocatedIsTheBlocksAlone)
{
    CutLog log;
    log.cut(kSegment, 1_MiB);
    const MemoryReport device = device_of(test::report_of(log));
    EXPECT_EQ(device.at_end.parts.reserved, 1_MiB);
    EXPECT_TRUE(device.at_end.parts.adds_up());
}

TEST(CutMemory, IsOfAnotherAllocationAtTheSameAddressOnceItWasFreed)
{
    CutLog log;
    log.alloc(kSegment, 2_MiB);
    log.cut(kSegment, 1_MiB).give_back(kSegment).free(kSegment);
    log.alloc(kSegment, 2_MiB);
    const Report report = test::report_of(log);
    ASSERT_EQ(report.leaks.size(), 1u);
    EXPECT_EQ(report.leaks[0].memory, format::Memory::device);
}

TEST(CutMemory, OfAnAllocatorThatRunsOutTheDriversFailuresAreAPart)
{
    CutLog log;
    log.alloc(kSegment, 20_MiB);
    log.cut(kSegment, 1_MiB).cut(kSegment + 10_MiB, 1_MiB);
    const auto driver = [&] {
        log.failed(2, 32_MiB);
        log.add(
            test::OutOfMemory{.device = 0, .requested = 32_MiB, .free = 12_MiB, .total = 32_MiB},
            "cuMemAlloc_v2");
    };
    driver();
    driver();
    log.failed(2, 31_MiB, "PyTorch");
    log.add(
        test::OutOfMemory{.device = 0, .requested = 31_MiB, .allocated = 2_MiB, .reserved = 20_MiB},
        "PyTorch");
    const Report report = test::report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    const Shortage& shortage = report.shortages[0];
    EXPECT_EQ(shortage.entry_point, "PyTorch");
    EXPECT_EQ(shortage.kind, ShortageKind::lacking);
    EXPECT_EQ(shortage.short_by, 1_MiB);
    EXPECT_EQ(shortage.free_pieces, 2u);
    EXPECT_EQ(shortage.largest_gap, 9_MiB);
}

namespace {

// PyTorch has a segment of 400 MiB, of which one block in the middle is in use, and wants `bytes`.
Shortage shortage_of(std::uint64_t bytes, std::string_view allocator)
{
    CutLog log;
    log.alloc(kSegment, 400_MiB);
    log.alloc(kSegment + 200_MiB, 1_MiB, 0, allocator);
    const std::uint64_t free = 16_MiB;
    log.failed(2, bytes);
    log.add(test::OutOfMemory{.device = 0, .requested = bytes, .free = free, .total = 416_MiB},
            "cuMemAlloc_v2");
    log.failed(2, bytes, allocator);
    log.add(
        test::OutOfMemory{.device = 0, .requested = bytes, .allocated = 1_MiB, .reserved = 400_MiB},
        allocator);
    const Report report = test::report_of(log);
    EXPECT_EQ(report.shortages.size(), 1u);
    return report.shortages.at(0);
}

} // namespace

TEST(CutMemory, WhatWouldFitInTheFreePagesOfSegmentsThatGrowHasARemedy)
{
    const Shortage fits = shortage_of(300_MiB, "PyTorch");
    EXPECT_EQ(fits.kind, ShortageKind::fragmented);
    EXPECT_EQ(fits.remedy, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True");
    EXPECT_EQ(shortage_of(336_MiB, "PyTorch").remedy, ""); // 399 + 16 MiB, less 4 pages of 20
    EXPECT_EQ(shortage_of(300_MiB, "a heap").remedy, "");
}
