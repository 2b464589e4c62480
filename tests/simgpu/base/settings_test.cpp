// tests/simgpu/base/settings_test.cpp — the environment of the simulated GPU.
#include "tools/simgpu/driver/base/settings.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

using namespace simgpu;

TEST(DeviceSetting, ReadsSizesAndCounts)
{
    const struct {
        const char* text;
        unsigned count;
        std::size_t bytes;
    } cases[] = {
        {"24GiB", 1, std::size_t{24} << 30},    {"2x80GiB", 2, std::size_t{80} << 30},
        {"512MiB", 1, std::size_t{512} << 20},  {"64M", 1, std::size_t{64} << 20},
        {"1T", 1, std::size_t{1} << 40},        {"33554432", 1, std::size_t{32} << 20},
        {"16x1g", 16, std::size_t{1} << 30},    {"2x1.5GiB", 2, std::size_t{3} << 29},
        {"65536KiB", 1, std::size_t{64} << 20},
    };
    for (const auto& known : cases) {
        const auto setting = parse_devices(known.text);
        ASSERT_TRUE(setting) << known.text;
        EXPECT_EQ(setting->count, known.count) << known.text;
        EXPECT_EQ(setting->bytes, known.bytes) << known.text;
    }
}

TEST(DeviceSetting, RefusesTheRest)
{
    for (const char* text :
         {"", "GiB", "x24GiB", "2x", "0x24GiB", "17x24GiB", "24 GiB", "24Gi", "24GiBs", "-24GiB",
          "1", "3TiB", "99999999999999999999", "18446744073709551615T", "1.5", "24Gib", "2x2x1GiB"})
        EXPECT_FALSE(parse_devices(text)) << text;
}

TEST(CudaVersion, ReadsMajorAndMinor)
{
    EXPECT_EQ(parse_version("12.4"), 12040);
    EXPECT_EQ(parse_version("12.0"), 12000);
    EXPECT_EQ(parse_version("13.0"), 13000);
    EXPECT_EQ(parse_version("11.3"), 11030);
    for (const char* text :
         {"", "12", "12.", ".4", "12.4.1", "12.10", "11.2", "100.0", "-12.4", "12,4"})
        EXPECT_FALSE(parse_version(text)) << text;
}

TEST(CudaVersion, IsTheNewestWithoutASetting)
{
    ::unsetenv("VRAMSCOPE_SIM_CUDA");
    EXPECT_EQ(cuda_version(13000), 13000);
    ::setenv("VRAMSCOPE_SIM_CUDA", "12.4", 1);
    EXPECT_EQ(cuda_version(13000), 12040);
    EXPECT_EQ(cuda_version(11080), 11080); // a driver cannot be newer than it is
    ::unsetenv("VRAMSCOPE_SIM_CUDA");
}

TEST(FaultSettings, ReadsGoodItemsAndDropsBadOnes)
{
    ::setenv("VRAMSCOPE_SIM_FAULTS",
             "cuMemAlloc_v2@3=2,nonsense,cuMemCreate@*=801,cuInit@1=,@=,cuInit@1=99999", 1);
    const auto faults = fault_settings();
    ASSERT_EQ(faults.size(), 2u);
    EXPECT_EQ(faults[0].name, "cuMemAlloc_v2");
    EXPECT_EQ(faults[0].nth, 3u);
    EXPECT_EQ(faults[0].code, 2);
    EXPECT_EQ(faults[1].name, "cuMemCreate");
    EXPECT_EQ(faults[1].nth, 0u);
    EXPECT_EQ(faults[1].code, 801);
}

TEST(WorkDelay, FallsBackToItsUsualValue)
{
    ::setenv("VRAMSCOPE_SIM_DELAY_US", "250", 1);
    EXPECT_EQ(work_delay().count(), 250);
    ::unsetenv("VRAMSCOPE_SIM_DELAY_US");
    const auto usual = work_delay();
    for (const char* bad : {"soon", "-1", "99999999999", "5us"}) {
        ::setenv("VRAMSCOPE_SIM_DELAY_US", bad, 1);
        EXPECT_EQ(work_delay(), usual) << bad;
    }
}

TEST(CallTimes, AreNothingUnlessTheyAreSet)
{
    EXPECT_EQ(allocation_time().count(), 0);
    EXPECT_EQ(free_time().count(), 0);
    ::setenv("VRAMSCOPE_SIM_ALLOC_US", "40", 1);
    ::setenv("VRAMSCOPE_SIM_FREE_US", "many", 1);
    EXPECT_EQ(allocation_time().count(), 40);
    EXPECT_EQ(free_time().count(), 0);
    ::unsetenv("VRAMSCOPE_SIM_ALLOC_US");
    ::unsetenv("VRAMSCOPE_SIM_FREE_US");
}
