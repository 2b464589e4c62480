// tests/report/findings/object_bytes_test.cpp — what the driver took for objects, as a range.
//
// A driver that takes memory in steps for all of its objects knows the truth.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/text/views.hpp"
#include "tests/report/judge/check_scene.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;
using test::operator""_MiB;

constexpr std::uint64_t kStep = 2_MiB;
constexpr std::uint64_t kTotal = std::uint64_t{80} << 30;

class DriverOfSteps {
public:
    DriverOfSteps()
    {
        log_.info("recorded", "contexts objects")
            .module(1, 0x400000, 0x400000, 0x500000, "/no/such/program")
            .context(1)
            .place({.context = 1, .device = 0, .stream = 0, .pool = 0, .capturing = false});
        for (std::uint64_t stack = 1; stack <= 3; ++stack)
            log_.stack(stack, {0x401000 + stack * 16});
    }

    // `moved`: by others, between the two answers.
    std::uint64_t make(std::uint64_t stack, std::uint64_t bytes, std::uint64_t moved = 0,
                       std::string_view api = "cuModuleLoad")
    {
        const std::uint64_t before = free();
        own_ += bytes;
        others_ = moved != 0 ? moved : others_;
        log_.alloc(++handle_, 0, stack, api);
        log_.object_memory(handle_, api, before, free(), kTotal);
        return handle_;
    }
    void others(std::uint64_t bytes) { others_ = bytes; }
    void end(std::uint64_t handle, std::uint64_t bytes, std::string_view api = "cuModuleUnload")
    {
        own_ -= bytes;
        log_.free(handle, api);
    }
    std::uint64_t free() const { return kTotal - (own_ + kStep - 1) / kStep * kStep - others_; }
    LogBuilder& log() { return log_; }

private:
    LogBuilder log_;
    std::uint64_t own_ = 0;
    std::uint64_t others_ = 0;
    std::uint64_t handle_ = 0x500000;
};

const ObjectBytes& bytes_of(const Report& report, std::uint64_t made)
{
    static const ObjectBytes kNone;
    for (const ObjectRow& row : report.objects)
        if (row.made == made && row.taken)
            return *row.taken;
    ADD_FAILURE() << "no row of " << made << " that were measured";
    return kNone;
}

TEST(ObjectBytes, OfManyInARowEachIsKnownToAShareOfAStep)
{
    DriverOfSteps driver;
    for (int i = 0; i < 1000; ++i)
        driver.make(1, 61 << 10);
    const Report report = report_of(driver.log());
    const ObjectBytes& taken = bytes_of(report, 1000);
    EXPECT_EQ(taken.objects, 1000u);
    EXPECT_LE(taken.least_each(), 61u << 10);
    EXPECT_GE(taken.most_each(), 61u << 10);
    EXPECT_LE(taken.most_each() - taken.least_each(), (2 * kStep) / 1000 + 1);
    std::ostringstream text;
    write_objects(text, report, TextStyle{});
    EXPECT_NE(text.str().find("takes at"), std::string::npos) << text.str();
}

TEST(ObjectBytes, OfFewTheSumIsToldAndNothingOfEach)
{
    DriverOfSteps driver;
    for (int i = 0; i < 7; ++i)
        driver.make(1, 8_MiB);
    const ObjectBytes taken = bytes_of(report_of(driver.log()), 7);
    EXPECT_FALSE(taken.tells_of_each());
    EXPECT_EQ(taken.bytes, 56_MiB);
    EXPECT_EQ(taken.least, 54_MiB);
    EXPECT_EQ(taken.most, 58_MiB);
}

// One always finds what the other left of a step.
TEST(ObjectBytes, OfThoseThatTakeTurnsTheStepsMayAllBeTheOthers)
{
    DriverOfSteps driver;
    for (int i = 0; i < 100; ++i) {
        driver.make(1, 1_MiB);
        driver.make(2, 1_MiB);
    }
    driver.make(2, 1_MiB);
    const Report report = report_of(driver.log());
    EXPECT_EQ(bytes_of(report, 100).bytes, 200_MiB);
    EXPECT_LE(bytes_of(report, 100).least, 100_MiB);
    EXPECT_GE(bytes_of(report, 101).most, 101_MiB);
}

struct Maker {
    std::string_view api;
    std::string_view end;
    format::Memory object;
};
constexpr std::array<Maker, 3> kMakers{
    {{"cuModuleLoad", "cuModuleUnload", format::Memory::module},
     {"cuStreamCreate", "cuStreamDestroy_v2", format::Memory::stream},
     {"cuLibraryLoadData", "cuLibraryUnload", format::Memory::library}}};

std::size_t site_of(const ObjectRow& row)
{
    std::size_t site = 0;
    while (kMakers.at(site).object != row.memory)
        ++site;
    return site;
}

// Of random kinds, sizes, turns and ends; each seed is a program.
void play(DriverOfSteps& driver, std::mt19937_64& random, std::vector<std::uint64_t>& truth,
          std::uint64_t neighbour)
{
    const std::uint64_t sites = 1 + random() % kMakers.size();
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t site = 0; site < sites; ++site)
        sizes.push_back(1024 + random() % (random() % 2 ? 100'000 : 9_MiB));
    const std::uint64_t turns = 1 + random() % 50;
    std::uint64_t site = 0;
    for (std::uint64_t i = 0, all = 20 + random() % 600; i < all; ++i) {
        if (random() % turns == 0)
            site = random() % sites;
        const bool moves = neighbour != 0 && random() % 40 == 0;
        const std::uint64_t handle = driver.make(
            1, sizes[site], moves ? random() % (neighbour / kStep) * kStep : 0, kMakers[site].api);
        truth[site] += sizes[site];
        if (random() % 20 == 0)
            driver.end(handle, sizes[site], kMakers[site].end);
        if (neighbour != 0 && random() % 40 == 0)
            driver.others(random() % (neighbour / kStep) * kStep);
    }
}

// How many of so many ranges are wrong.
std::pair<int, int> wrong_ranges(std::uint64_t neighbour)
{
    int wrong = 0;
    int all = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        std::mt19937_64 random(seed);
        DriverOfSteps driver;
        std::vector<std::uint64_t> truth(kMakers.size());
        play(driver, random, truth, neighbour);
        const Report report = report_of(driver.log());
        for (const ObjectRow& row : report.objects) {
            if (!row.taken)
                continue;
            const std::uint64_t bytes = truth[site_of(row)];
            ++all;
            wrong += bytes < row.taken->least || bytes > row.taken->most;
        }
    }
    return {wrong, all};
}

TEST(ObjectBytes, WhereNobodyElseMovesEachTruthLiesInItsRange)
{
    const auto [wrong, all] = wrong_ranges(0);
    EXPECT_GT(all, 200);
    EXPECT_EQ(wrong, 0) << "of " << all;
}

TEST(ObjectBytes, BesideALoudNeighbourHardlyAnyRangeIsWrong)
{
    const auto [wrong, all] = wrong_ranges(256_MiB);
    EXPECT_GT(all, 200);
    EXPECT_LE(wrong * 20, all) << wrong << " of " << all;
}

TEST(ObjectBytes, WhatIsUsedBesideTheProgramsSplitsIntoContextsObjectsAndARest)
{
    DriverOfSteps driver;
    format::ContextOpened opened;
    opened.context = 2;
    opened.opening = format::Opening::created;
    opened.free_before = kTotal - 1000_MiB;
    opened.free_after = kTotal - 1300_MiB;
    opened.total = kTotal;
    driver.log().context(2).context_opened(opened);
    driver.others(1300_MiB);
    const std::uint64_t first = driver.make(1, 30_MiB);
    driver.make(1, 10_MiB);
    driver.end(first, 30_MiB);
    driver.log().alloc(0x7f0000000000, 4_MiB, 1);
    driver.log().device_memory(driver.free() - 4_MiB, kTotal);
    const Waterfall at_end = report_of(driver.log()).processes.at(0).memory.at(0).at_end.parts;
    EXPECT_TRUE(at_end.adds_up());
    EXPECT_EQ(at_end.reserved, 4_MiB);
    EXPECT_EQ(at_end.unattributed, 1310_MiB);
    EXPECT_EQ(at_end.contexts, 300_MiB);
    EXPECT_EQ(at_end.objects, 10_MiB);
    opened.context = 3; // of a device on which nothing else is done
    driver.log().context(3, 1).context_opened(opened);
    EXPECT_EQ(report_of(driver.log()).processes.at(0).memory.size(), 1u);
    driver.log().context_gone(2);
    EXPECT_EQ(report_of(driver.log()).processes.at(0).memory.at(0).at_end.parts.contexts, 0u);
}

TEST(ObjectBytes, AMeasurementOfAnotherObjectOrOfNoneCountsForNone)
{
    DriverOfSteps driver;
    driver.log().object_memory(0x1234, "cuModuleLoad", 10_MiB, 8_MiB, kTotal);
    driver.log().alloc(0x77, 0, 1, "cuModuleLoad");
    driver.log().object_memory(0x78, "cuModuleLoad", 10_MiB, 8_MiB, kTotal);
    for (const ObjectRow& row : report_of(driver.log()).objects)
        EXPECT_FALSE(row.taken);
}

// Set again, it replaces the setting before, but not what was taken for that.
TEST(ObjectBytes, OfALimitAllSettingsStayWithTheContext)
{
    DriverOfSteps driver;
    constexpr std::uint64_t kTaken[] = {8_MiB, 0, 4_MiB};
    std::uint64_t taken = 0;
    for (const std::uint64_t bytes : kTaken) {
        driver.log().alloc(0x101, 0, 1, "cuCtxSetLimit");
        driver.log().object_memory(0x101, "cuCtxSetLimit", kTotal - taken, kTotal - taken - bytes,
                                   kTotal);
        taken += bytes;
    }
    EXPECT_EQ(report_of(driver.log()).processes.at(0).memory.at(0).at_end.parts.objects, 12_MiB);
    driver.log().context_gone(1);
    EXPECT_EQ(report_of(driver.log()).processes.at(0).memory.at(0).at_end.parts.objects, 0u);
}

// What the program itself took or gave back meanwhile is in both answers.
TEST(ObjectBytes, WhileTheProgramAllocatesNothingIsMeasured)
{
    DriverOfSteps driver;
    driver.log().alloc(0x77, 0, 1, "cuModuleLoad").alloc(0x7f0000000000, 64_MiB, 1);
    driver.log().object_memory(0x77, "cuModuleLoad", kTotal, kTotal - 66_MiB, kTotal);
    EXPECT_FALSE(report_of(driver.log()).objects.at(0).taken);
}

} // namespace
} // namespace vramscope::report
