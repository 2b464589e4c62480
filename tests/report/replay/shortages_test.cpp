// tests/report/replay/shortages_test.cpp — out-of-memory failures: why, and what held the memory.
#include "report/replay/shortages.hpp"

#include <sstream>

#include <gtest/gtest.h>

#include "report/text/sections.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_KiB;
using test::operator""_MiB;
using test::operator""_GiB;

LogBuilder program()
{
    return test::program_with_stacks().place({.context = 1, .device = 0});
}

Shortage judged(const test::OutOfMemory& state, bool pooled = true)
{
    LogBuilder log = program();
    if (pooled)
        log.segment(0x100000, 2_MiB);
    const Report report = report_of(log.out_of_memory(state));
    EXPECT_EQ(report.shortages.size(), 1u);
    return report.shortages.empty() ? Shortage{} : report.shortages[0];
}

TEST(Shortages, SizeThatNoDeviceHasIsToldAsWhatItIs)
{
    const Report report = report_of(
        program().out_of_memory({.requested = 0 - 384_KiB, .free = 1_GiB, .total = 24_GiB}));
    ASSERT_EQ(report.shortages.size(), 1u);
    EXPECT_EQ(report.shortages[0].kind, ShortageKind::impossible);
    EXPECT_EQ(report.shortages[0].short_by, 0u);
    const std::string sentence = report.headlines.front().sentence();
    EXPECT_NE(sentence.find("no device has 16 EiB, which is -384 KiB as a signed number"),
              std::string::npos)
        << sentence;
}

TEST(Shortages, PoolOfTheDriversThatKeepsMemoryIsNamed)
{
    LogBuilder log = program();
    log.alloc(0x1000, 600_MiB, 3, "cuMemAllocAsync").free(0x1000, "cuMemFreeAsync");
    log.out_of_memory({.requested = 600_MiB, .free = 400_MiB, .total = 1_GiB});
    log.mempool_memory(0, 600_MiB, 0).mempool_memory(0x77, 64_MiB, 60_MiB);
    // A sample later on is not of the failure.
    log.device_memory(1_GiB, 1_GiB).mempool_memory(0, 900_MiB, 0);
    const Report report = report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    const std::vector<Mempool>& pools = report.shortages[0].mempools;
    ASSERT_EQ(pools.size(), 2u);
    EXPECT_TRUE(pools[0].is_default());
    EXPECT_EQ(pools[0].kept(), 600_MiB);
    EXPECT_EQ(pools[0].stack.front().offset, 0x3000u);
    EXPECT_EQ(pools[1].kept(), 4_MiB);
    EXPECT_TRUE(pools[1].stack.empty());
    const std::string sentence = report.headlines.front().sentence();
    EXPECT_NE(sentence.find("the driver's default pool kept 600 MiB that nothing used"),
              std::string::npos)
        << sentence;
    ASSERT_EQ(report.processes[0].memory.size(), 1u);
    EXPECT_EQ(report.processes[0].memory[0].mempools[0].reserved, 900_MiB);
}

TEST(Shortages, MemoryIsLackingWhereAllOfItTogetherIsLess)
{
    const Shortage shortage = judged({.requested = 8_GiB,
                                      .free = 1_GiB,
                                      .total = 24_GiB,
                                      .allocated = 20_GiB,
                                      .reserved = 23_GiB,
                                      .largest_gap = 2_GiB});
    EXPECT_EQ(shortage.kind, ShortageKind::lacking);
    EXPECT_EQ(shortage.short_by, 4_GiB);
    EXPECT_FALSE(shortage.estimated());
    EXPECT_EQ(describe(shortage), "short by 4 GiB");
}

TEST(Shortages, MemoryIsFragmentedWhereItIsEnoughInNoOnePiece)
{
    const Shortage shortage = judged({.requested = 4_GiB,
                                      .free = 1_GiB,
                                      .total = 24_GiB,
                                      .allocated = 20_GiB,
                                      .reserved = 23_GiB,
                                      .largest_gap = 2_GiB});
    EXPECT_EQ(shortage.kind, ShortageKind::fragmented);
    EXPECT_EQ(shortage.short_by, 2_GiB);
    EXPECT_EQ(describe(shortage), "fragmented: 4 GiB free, largest gap 2 GiB, 4 GiB needed");
}

TEST(Shortages, APoolOfTheDriversThatIsFullIsNotTheDevice)
{
    LogBuilder log = program();
    log.out_of_memory({.requested = 96_MiB, .free = 1_GiB, .total = 1_GiB},
                      "cuMemAllocFromPoolAsync");
    log.mempool_memory(0x77, 0, 0, 0, 64_MiB);
    const Report report = report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    EXPECT_EQ(report.shortages[0].kind, ShortageKind::limited);
    EXPECT_EQ(describe(report.shortages[0]),
              "above the maximum of 64 MiB that a pool of the driver's has, 0 B of which were in "
              "use");
}

TEST(Shortages, ASettingThatLeftTooLittleIsNamed)
{
    const test::OutOfMemory refused{.requested = 48_MiB,
                                    .free = 20_GiB,
                                    .total = 24_GiB,
                                    .allocated = 230_MiB,
                                    .reserved = 230_MiB};
    LogBuilder part = program().info("pool.per_process_memory_fraction", "0.01");
    const Report report = report_of(part.segment(0x100000, 2_MiB).out_of_memory(refused));
    EXPECT_EQ(report.shortages.at(0).kind, ShortageKind::limited);
    EXPECT_EQ(describe(report.shortages.at(0)),
              "above the 245.8 MiB that per_process_memory_fraction=0.01 allows, 230 MiB of which "
              "were reserved");
    test::OutOfMemory small = refused;
    small.reserved = small.allocated = 10_MiB;
    LogBuilder roomy = program().info("pool.per_process_memory_fraction", "0.01");
    EXPECT_EQ(report_of(roomy.segment(0x100000, 2_MiB).out_of_memory(small)).shortages.at(0).kind,
              ShortageKind::refused);
    LogBuilder limit = program().info("pool.limit", "100MiB");
    limit.out_of_memory({.requested = 48_MiB, .free = 16_MiB, .total = 100_MiB});
    const std::string sentence = report_of(limit).headlines.front().sentence();
    LogBuilder beyond = program().info("pool.limit", "1GiB");
    beyond.out_of_memory({.requested = 48_MiB, .free = 16_MiB, .total = 100_MiB});
    EXPECT_EQ(report_of(beyond).shortages.at(0).setting, "") << "the device has less";
    EXPECT_NE(sentence.find("16 MiB were free of the 100 MiB that limit=100MiB allows"),
              std::string::npos)
        << sentence;
}

TEST(Shortages, WhatIsNotTheProgramsIsSaidToHaveTheMost)
{
    LogBuilder log = program().alloc(0x1000, 2_MiB, 1);
    log.device_memory(54_MiB, 256_MiB);
    log.out_of_memory({.requested = 200_MiB, .free = 54_MiB, .total = 256_MiB});
    const std::string sentence = report_of(log).headlines.front().sentence();
    EXPECT_NE(sentence.find("contexts, streams, code and other processes had 200 MiB; of "
                            "the program's, "),
              std::string::npos)
        << sentence;
}

TEST(Shortages, AnEmptyDriverThatRefusesIsNotSaidToBeFragmented)
{
    const Shortage shortage =
        judged({.requested = 4_GiB, .free = 5_GiB, .total = 24_GiB, .allocated = 19_GiB}, false);
    EXPECT_EQ(shortage.kind, ShortageKind::refused);
    EXPECT_TRUE(shortage.estimated());
    EXPECT_EQ(shortage.short_by, 0u);
    EXPECT_EQ(describe(shortage),
              "refused though 5 GiB were free: in which pieces, only the driver knows");
}

TEST(Shortages, AGapThatIsLargeEnoughIsACacheThatCouldNotBeUsed)
{
    EXPECT_EQ(
        judged({.requested = 1_GiB, .total = 4_GiB, .reserved = 2_GiB, .largest_gap = 1_GiB}).kind,
        ShortageKind::cached);
}

TEST(Shortages, WithoutTheDriversWordNothingIsClaimed)
{
    EXPECT_EQ(judged({.requested = 1_GiB}, false).kind, ShortageKind::unknown);
}

// Only a lower bound of the driver's padding is known: it proves that memory was lacking, and
// proves nothing else.
TEST(Shortages, OfPaddedMemoryOnlyTheLackIsProven)
{
    for (const char* const api : {"cuMemAllocPitch_v2", "cuArrayCreate_v2", "cuArray3DCreate_v2",
                                  "cuMipmappedArrayCreate"}) {
        for (const bool pooled : {false, true}) {
            LogBuilder log = program();
            if (pooled)
                log.segment(0x100000, 2_MiB);
            test::OutOfMemory state{.requested = 8_GiB, .free = 1_GiB, .total = 24_GiB};
            if (pooled)
                state.largest_gap = state.reserved = 2_GiB;
            log.out_of_memory(state, api);
            state.requested = 64_MiB;
            log.out_of_memory(state, api);
            const Report report = report_of(log);
            const Shortage& lacking = report.shortages.at(0);
            EXPECT_EQ(lacking.kind, ShortageKind::lacking) << api;
            EXPECT_TRUE(lacking.at_least);
            EXPECT_EQ(describe(lacking),
                      pooled ? "short by at least 5 GiB" : "short by at least 7 GiB");
            const Shortage& unknown = report.shortages.at(1);
            EXPECT_EQ(unknown.kind, ShortageKind::unknown) << api;
            EXPECT_NE(describe(unknown).find("at least 64 MiB needed"), std::string::npos)
                << describe(unknown);
        }
    }
}

TEST(Shortages, WhereNobodyKnowsHowMuchWasAskedForNothingIsClaimed)
{
    const test::OutOfMemory state{.free = 1_GiB,
                                  .total = 24_GiB,
                                  .allocated = 1_GiB,
                                  .reserved = 3_GiB,
                                  .largest_gap = 1_GiB};
    for (const bool pooled : {false, true}) {
        LogBuilder log = program();
        if (pooled)
            log.segment(0x100000, 2_MiB);
        const Report report = report_of(log.out_of_memory(state, "cuModuleLoadData"));
        const Shortage& shortage = report.shortages.at(0);
        EXPECT_EQ(shortage.kind, ShortageKind::unknown);
        EXPECT_EQ(describe(shortage), "out of memory: how much was asked for is not known");
        std::ostringstream text;
        const TextStyle style; // outlives what is written with it
        TextOutput out(text, style);
        write_shortages(out, report);
        EXPECT_EQ(text.str().find("of 0 B"), std::string::npos) << text.str();
        EXPECT_EQ(text.str().find("for 0 B"), std::string::npos) << text.str();
    }
}

TEST(Shortages, TheOwnersAreThoseOfThatMomentAndThatDevice)
{
    LogBuilder log = program();
    log.alloc(0x1000, 300, 1).alloc(0x2000, 500, 2).alloc(0x3000, 900, 3).free(0x3000);
    log.alloc(0x4000, 100, 1).alloc(0x5000, 7000, 4, "cuMemHostAlloc");
    log.place({.context = 2, .device = 1}).alloc(0x6000, 9000, 5);
    log.failed(2, 77, "cuMemAlloc_v2", 6).out_of_memory({.device = 0, .requested = 77});
    log.place({.context = 1, .device = 0}).alloc(0x7000, 5000, 7).free(0x2000);
    const Report report = report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    const Shortage& shortage = report.shortages[0];
    EXPECT_EQ(shortage.stack.at(0).offset, 0x6000u);
    EXPECT_EQ(shortage.held, 900u);
    ASSERT_EQ(shortage.owners.size(), 2u);
    EXPECT_EQ(shortage.owners[0].bytes, 500u);
    EXPECT_EQ(shortage.owners[0].stack.at(0).offset, 0x2000u);
    EXPECT_EQ(shortage.owners[1].bytes, 400u);
    EXPECT_EQ(shortage.owners[1].blocks, 2u);
}

// It lies where it is used, and makes room.
TEST(Shortages, ManagedMemoryIsNoOwner)
{
    LogBuilder log = program();
    log.alloc(0x10000000, 200_MiB, 1, "cuMemAllocManaged").alloc(0x20000000, 50_MiB, 2);
    log.out_of_memory({.device = 0, .requested = 60_MiB, .free = 50_MiB, .total = 100_MiB});
    const Report report = report_of(log);
    ASSERT_EQ(report.shortages.at(0).owners.size(), 1u);
    EXPECT_EQ(report.shortages[0].held, 50_MiB);
}

TEST(Shortages, RetriesOfTheDeviceAreCountedUpToThere)
{
    LogBuilder log = program();
    log.retried(5, 0).retried(5, 2, 1).out_of_memory({.device = 0}).retried(5, 2);
    const Report report = report_of(log);
    EXPECT_EQ(report.shortages.at(0).retries, 1u);
}

TEST(Shortages, OfVeryManyTheFirstAndTheLastAreKeptAndAllAreCounted)
{
    LogBuilder log = program();
    log.alloc(0x1000, 300, 1);
    for (std::uint64_t at = 0; at < 1000; ++at)
        log.out_of_memory({.device = 0, .requested = at});
    const Report report = report_of(log);
    EXPECT_EQ(report.processes[0].shortage_count, 1000u);
    ASSERT_EQ(report.shortages.size(), Shortages::kFirst + Shortages::kLast);
    EXPECT_EQ(report.shortages.front().requested, 0u);
    EXPECT_EQ(report.shortages.back().requested, 999u);
}

// 3000 failures with 3000 live blocks: the blocks are not walked over for each.
TEST(Shortages, WalksOverLiveBlocksDoNotMultiplyWithFailures)
{
    LogBuilder log = program();
    for (std::uint64_t at = 0; at < 3000; ++at)
        log.alloc(0x1000 + at * 0x1000, 1, 1);
    for (std::uint64_t at = 0; at < 3000; ++at)
        log.out_of_memory({.device = 0, .requested = at});
    const Report report = report_of(log);
    EXPECT_TRUE(report.shortages.front().owners_known);
    EXPECT_FALSE(report.shortages.back().owners_known);
}

// An allocator's cache: four segments of 16 MiB, one of them with a block; 32 MiB are asked for.
struct FullDevice : LogBuilder {
    static constexpr std::uint64_t kAt = 0x1'0000'0000;
    static constexpr std::uint64_t kNew = 0x2'0000'0000;

    explicit FullDevice(std::uint64_t refusals = 1) : LogBuilder(program())
    {
        header().suballocated = 1;
        for (std::uint64_t at = 0; at < 4; ++at)
            alloc(kAt + at * 16_MiB, 16_MiB, 1).alloc(kAt + at * 16_MiB, 1_MiB, 2, "PyTorch");
        for (std::uint64_t at = 1; at < 4; ++at)
            free(kAt + at * 16_MiB, "PyTorch");
        for (; refusals > 0; --refusals)
            refuse(32_MiB);
    }
    FullDevice& refuse(std::uint64_t bytes)
    {
        failed(2, bytes, "cuMemAlloc_v2", 3);
        out_of_memory({.device = 0, .requested = bytes, .free = 1_MiB, .total = 65_MiB});
        return *this;
    }
    FullDevice& give_back()
    {
        for (std::uint64_t at = 1; at < 4; ++at)
            free(kAt + at * 16_MiB);
        return *this;
    }
    FullDevice& grant(std::uint64_t bytes = 32_MiB)
    {
        alloc(kNew, bytes, 4);
        return *this;
    }
    FullDevice& cut()
    {
        alloc(kNew, 20_MiB, 5, "PyTorch");
        return *this;
    }
};

const AllocatorMemory& pytorch(const Report& report)
{
    return report.processes.at(0).memory.at(0).allocators.at(0);
}

TEST(Shortages, ARefusalThatAnAllocatorMendedIsARetry)
{
    for (const std::uint64_t refusals :
         {1u, 2u}) { // it gave back a part of its cache, and then all
        FullDevice log(refusals);
        const Report report = report_of(log.give_back().grant().cut());
        EXPECT_TRUE(report.shortages.empty());
        EXPECT_EQ(report.processes[0].shortage_count, 0u);
        EXPECT_TRUE(report.failed_calls.empty());
        EXPECT_EQ(pytorch(report).retries, 1u);
        ASSERT_EQ(pytorch(report).retried_at.size(), 1u);
        EXPECT_EQ(pytorch(report).retried_at[0].retries, 1u);
        EXPECT_EQ(pytorch(report).retried_at[0].most_requested, 32_MiB);
        EXPECT_EQ(pytorch(report).retried_at[0].stack.at(0).offset, 0x5000u);
    }
}

TEST(Shortages, ARefusalThatNothingProvesToBeMendedStays)
{
    FullDevice nothing_given_back, another_size, another_thread, nothing_cut, of_another;
    nothing_given_back.grant().cut();
    another_size.give_back().grant(33_MiB).cut();
    another_thread.give_back().thread(1);
    another_thread.place({.context = 1, .device = 0});
    another_thread.grant().cut();
    nothing_cut.give_back().grant();
    // The allocator served a request meanwhile, so that the refusal was not its own.
    of_another.alloc(FullDevice::kAt + 1_MiB, 1_MiB, 2, "PyTorch");
    of_another.give_back().grant().cut();
    for (FullDevice* const log :
         {&nothing_given_back, &another_size, &another_thread, &nothing_cut, &of_another}) {
        const Report report = report_of(*log);
        EXPECT_EQ(report.processes[0].shortage_count, 1u);
        EXPECT_EQ(report.shortages.size(), 1u);
        EXPECT_EQ(report.failed_calls.size(), 1u);
        EXPECT_EQ(pytorch(report).retries, 0u);
    }
}

// It asked twice, and the second time counts as a retry, as it does in PyTorch.
TEST(Shortages, ARetryThatFailsTooIsCounted)
{
    for (const std::uint64_t refusals : {1u, 2u}) {
        FullDevice log(refusals);
        log.give_back().failed(2, 30_MiB, "PyTorch", 6);
        log.out_of_memory({.device = 0, .requested = 30_MiB}, "PyTorch");
        const Report report = report_of(log);
        ASSERT_EQ(report.shortages.size(), 1u);
        EXPECT_EQ(report.shortages[0].api, "PyTorch");
        EXPECT_EQ(report.shortages[0].total, 65_MiB);
        EXPECT_EQ(report.shortages[0].retries, refusals - 1);
        EXPECT_EQ(pytorch(report).retries, refusals - 1);
    }
}

// Physical memory is asked for piece by piece, so that the refusal is of less than was wanted.
TEST(Shortages, RefusalsOfPiecesAreTheAllocatorsToo)
{
    LogBuilder log = program();
    log.header().suballocated = 1;
    const std::uint64_t at = FullDevice::kAt;
    log.alloc(1, 20_MiB, 1, "cuMemCreate").map(at, 20_MiB, 1).alloc(at, 20_MiB, 2, "PyTorch");
    log.free(at, "PyTorch");
    for (int attempt = 0; attempt < 2; ++attempt) {
        log.alloc(7, 20_MiB, 1, "cuMemCreate").failed(2, 20_MiB, "cuMemCreate", 3);
        log.out_of_memory({.device = 0, .requested = 20_MiB, .total = 50_MiB}, "cuMemCreate");
        log.free(7, "cuMemRelease");
    }
    log.failed(2, 90_MiB, "PyTorch", 6);
    log.out_of_memory({.device = 0, .requested = 90_MiB}, "PyTorch");
    const Report report = report_of(log);
    ASSERT_EQ(report.shortages.size(), 1u);
    EXPECT_EQ(report.shortages[0].api, "PyTorch");
    EXPECT_EQ(report.shortages[0].retries, 1u);
    EXPECT_EQ(report.shortages[0].free, 20_MiB);        // its own pieces are no shortage of others'
    EXPECT_EQ(report.totals.peak_device_bytes, 20_MiB); // of the block: no more was ever used
}

// A program's own pieces are its memory, though it gives them back after a refusal.
TEST(Shortages, PiecesThatWereMappedAreMemory)
{
    for (const bool mapped : {false, true}) {
        LogBuilder log = program();
        log.header().suballocated = 1;
        const std::uint64_t at = FullDevice::kAt;
        log.alloc(1, 20_MiB, 1, "cuMemCreate").map(at, 20_MiB, 1).alloc(at, 20_MiB, 2, "PyTorch");
        log.alloc(7, 30_MiB, 1, "cuMemCreate");
        if (mapped)
            log.map(at + 1_GiB, 30_MiB, 7).unmap(at + 1_GiB, 30_MiB);
        log.failed(2, 20_MiB, "cuMemCreate", 3);
        log.out_of_memory({.device = 0, .requested = 20_MiB, .total = 50_MiB}, "cuMemCreate");
        log.free(7, "cuMemRelease");
        EXPECT_EQ(report_of(log).totals.peak_device_bytes, mapped ? 50_MiB : 20_MiB);
    }
}

} // namespace
} // namespace vramscope::report
