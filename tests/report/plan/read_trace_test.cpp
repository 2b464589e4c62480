// tests/report/plan/read_trace_test.cpp — what a log asks of an allocator, request by request.
#include "report/plan/trace/read_trace.hpp"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report::plan {
namespace {

using test::LogBuilder;
using test::TempFile;
using test::operator""_MiB;
using test::operator""_GiB;

// "+0:5" a block of 5 MiB, "-0" its free, "|" a synchronisation, "e" an emptied cache, ">1:2" and
// "<1" memory taken beside, "~0" a free that queued work delays, "=0" that work is done.
std::string words_of(const Trace& trace)
{
    std::string words;
    for (const Request& request : trace.requests) {
        const std::uint64_t mebibytes = request.bytes >> 20;
        switch (request.action) {
        case Action::allocate:
            words += fmt::format(" +{}:{}", request.block, mebibytes);
            break;
        case Action::take_beside:
            words += fmt::format(" >{}:{}", request.block, mebibytes);
            break;
        case Action::give_beside:
            words += fmt::format(" <{}", request.block);
            break;
        case Action::synchronise:
            words += " |";
            break;
        case Action::empty_cache:
            words += " e";
            break;
        case Action::free_later:
            words += fmt::format(" ~{}", request.block);
            break;
        case Action::ready:
            words += fmt::format(" ={}", request.block);
            break;
        case Action::free:
            words += fmt::format(" -{}", request.block);
        }
    }
    return words.empty() ? words : words.substr(1);
}

using Look = std::function<void(const TraceWatch::DeviceTrace&)>;

void look_at(const LogBuilder& log, std::size_t device, const Look& look)
{
    const TempFile file(log.build());
    TracedLog traced(file.path());
    traced.read({});
    ASSERT_GT(traced.devices().size(), device);
    look(traced.devices()[device]);
}

std::string trace_of(const LogBuilder& log, std::size_t device = 0)
{
    std::string words;
    look_at(log, device, [&](const auto& traced) { words = words_of(traced.trace); });
    return words;
}

LogBuilder traced_on_device()
{
    LogBuilder log = test::program_with_stacks();
    log.context(1).place({.context = 1, .device = 0});
    return log;
}

TEST(ReadTrace, HasEachRequestOfAPlainProgramWithABlockOfItsOwn)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000000, 5_MiB).alloc(0x8000000, 3_MiB).free(0x1000000).alloc(0x1000000, 2_MiB);
    EXPECT_EQ(trace_of(log), "+0:5 +1:3 -0 +2:2");
}

TEST(ReadTrace, TakesHostMemoryForNothingAndArraysForTakenBeside)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000, 9_MiB, 0, "cuMemHostAlloc").alloc(0x10, 2_MiB, 0, "cuArrayCreate_v2");
    log.alloc(0x2000000, 1_MiB).free(0x10, "cuArrayDestroy");
    EXPECT_EQ(trace_of(log), ">0:2 +1:1 <0");
}

TEST(ReadTrace, LeavesManagedMemoryOutAndSaysSo)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000000, 9_MiB, 0, "cuMemAllocManaged").alloc(0x2000000, 1_MiB);
    look_at(log, 0, [](const auto& device) {
        EXPECT_EQ(words_of(device.trace), "+0:1");
        EXPECT_EQ(device.facts.managed, 1u);
    });
}

TEST(ReadTrace, TakesBlocksOfPyTorchAndNotItsSegments)
{
    LogBuilder log = test::program_that_cuts();
    log.header().suballocated = 1;
    EXPECT_EQ(trace_of(log), "+0:3 +1:4 >2:5 -1");
}

TEST(ReadTrace, KnowsAnEmptiedCacheFromASecondTry)
{
    constexpr std::uint64_t kFirst = 0x1'0000'0000;
    constexpr std::uint64_t kSecond = 0x2'0000'0000;
    LogBuilder log = traced_on_device();
    log.header().suballocated = 1;
    log.alloc(kFirst, 20_MiB).alloc(kFirst, 3_MiB, 2, "PyTorch").free(kFirst, "PyTorch");
    log.failed(2, 40_MiB, "cuMemAlloc_v2", 4).out_of_memory({.device = 0, .requested = 40_MiB});
    log.free(kFirst); // given back since memory was short, and asked for again
    log.alloc(kSecond, 40_MiB).alloc(kSecond, 30_MiB, 2, "PyTorch").free(kSecond, "PyTorch");
    log.free(kSecond); // given back at the program's word, though another is asked for after it
    log.alloc(kFirst, 20_MiB).alloc(kFirst, 2_MiB, 2, "PyTorch");
    log.free(kFirst, "PyTorch").free(kFirst);
    EXPECT_EQ(trace_of(log), "+0:3 -0 +1:30 -1 e +2:2 -2");
}

TEST(ReadTrace, EmptiesTheCacheWhereSegmentsWentBackAndOthersAreUsed)
{
    constexpr std::uint64_t kFirst = 0x1'0000'0000;
    constexpr std::uint64_t kSecond = 0x2'0000'0000;
    LogBuilder log = traced_on_device();
    log.header().suballocated = 1;
    log.alloc(kFirst, 20_MiB).alloc(kFirst, 3_MiB, 2, "PyTorch");
    log.alloc(kSecond, 20_MiB).alloc(kSecond, 20_MiB, 2, "PyTorch").free(kSecond, "PyTorch");
    log.free(kSecond).alloc(kFirst + 4_MiB, 1_MiB, 2, "PyTorch");
    EXPECT_EQ(trace_of(log), "+0:3 +1:20 -1 e +2:1");
}

TEST(ReadTrace, KnowsWhatAnotherStreamStillUsesWhenItIsFreed)
{
    constexpr std::uint64_t kBlock = 0x1'0000'0000;
    LogBuilder log = traced_on_device();
    log.header().suballocated = 1;
    log.alloc(kBlock, 20_MiB).alloc(kBlock, 3_MiB, 2, "PyTorch");
    log.add(format::Awaited{1, kBlock, false}).free(kBlock, "PyTorch");
    log.alloc(kBlock + 4_MiB, 1_MiB, 2, "PyTorch").add(format::Awaited{1, kBlock, true});
    EXPECT_EQ(trace_of(log), "+0:3 ~0 +1:1 =0");
}

TEST(ReadTrace, PutsASynchronisationWhereItWas)
{
    LogBuilder log = traced_on_device();
    log.segment(0x1000000, 8_MiB).pooled(0x1000000, 1_MiB).free(0x1000000);
    log.reusable(0).alloc(0x4000000, 2_MiB).reusable(1500);
    log.reusable(0, true); // the pool's own
    EXPECT_EQ(trace_of(log), "+0:1 -0 | +1:2");
}

TEST(ReadTrace, TakesNoMoreThanAnyDeviceHasSoThatItCanBeAddedUp)
{
    LogBuilder log;
    log.alloc(0x1000, UINT64_MAX).alloc(0x2000, std::uint64_t{1} << 63).free(0x1000);
    EXPECT_EQ(trace_of(log), "+0:16777216 +1:16777216 -0");
}

TEST(ReadTrace, FreesWhatDiesWithItsContext)
{
    LogBuilder log = traced_on_device();
    log.context(2).alloc(0x1000000, 5_MiB).alloc(0x2000000, 6_MiB);
    log.place({.context = 2, .device = 0}).alloc(0x3000000, 7_MiB).context_gone(1);
    log.alloc(0x1000000, 1_MiB);
    EXPECT_EQ(trace_of(log), "+0:5 +1:6 +2:7 -1 -0 +3:1");
}

TEST(ReadTrace, ServesARequestThatFailedAndSaysSo)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000000, 5_MiB).failed(2, 3_GiB, "cuMemAlloc_v2", 4);
    log.out_of_memory({.device = 0, .requested = 3_GiB, .total = 1_GiB});
    look_at(log, 0, [](const auto& device) {
        EXPECT_EQ(words_of(device.trace), "+0:5 +1:3072 -1");
        ASSERT_EQ(device.facts.failed.size(), 1u);
        EXPECT_EQ(device.facts.failed[0].stack, 4u);
        EXPECT_EQ(device.facts.peak_live, 5_MiB + 3_GiB);
        EXPECT_EQ(device.facts.peak_request, 1u);
    });
}

TEST(ReadTrace, TellsStreamsOfStreamOrderedMemory)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000000, 1_MiB);
    log.place({.context = 1, .device = 0, .stream = 0x55d0})
        .alloc(0x2000000, 2_MiB, 0, "cuMemAllocAsync");
    log.place({.context = 1, .device = 0, .stream = 1})
        .alloc(0x3000000, 3_MiB, 0, "cuMemAllocAsync");
    look_at(log, 0, [](const auto& device) {
        ASSERT_EQ(device.trace.requests.size(), 3u);
        EXPECT_EQ(device.trace.requests[1].stream, 1u);
        EXPECT_EQ(device.trace.requests[2].stream, 0u);
        EXPECT_EQ(device.facts.stream_ordered, 2u);
    });
}

TEST(ReadTrace, SaysWhatOthersUseOfTheDevice)
{
    LogBuilder log = traced_on_device();
    log.segment(0x1000000, 8_MiB).pooled(0x1000000, 1_MiB);
    log.device_memory(1_GiB - 8_MiB - 300_MiB, 1_GiB);
    look_at(log, 0, [](const auto& device) {
        EXPECT_EQ(device.trace.base_bytes, 300_MiB);
        EXPECT_EQ(device.trace.device_bytes, 1_GiB);
        EXPECT_FALSE(device.trace.unknown.empty());
    });
}

TEST(ReadTrace, KeepsDevicesApart)
{
    LogBuilder log = traced_on_device();
    log.alloc(0x1000000, 5_MiB).place({.context = 1, .device = 1}).alloc(0x2000000, 3_MiB);
    EXPECT_EQ(trace_of(log, 0), "+0:5");
    EXPECT_EQ(trace_of(log, 1), "+0:3");
}

} // namespace
} // namespace vramscope::report::plan
