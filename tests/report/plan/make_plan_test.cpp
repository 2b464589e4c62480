// tests/report/plan/make_plan_test.cpp — who has the peak, what a change saves, what pins segments.
#include "report/plan/make_plan.hpp"

#include <string>

#include <gtest/gtest.h>

#include "report/error.hpp"
#include "report/plan/scale.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report::plan {
namespace {

using test::LogBuilder;
using test::TempFile;
using test::operator""_KiB;
using test::operator""_MiB;

Plan plan_of(const LogBuilder& log, const PlanOptions& options)
{
    const TempFile file(log.build());
    return make_plan({file.path()}, options);
}

// No allocator between the program and a driver that rounds up.
PlanOptions without_allocator()
{
    PlanOptions options;
    options.policies = {"none"};
    return options;
}

LogBuilder on_device()
{
    LogBuilder log = test::program_with_stacks();
    log.context(1).place({.context = 1, .device = 0});
    return log;
}

// Stack 1 has a buffer that is never freed; stack 2 makes the peak.
LogBuilder with_a_buffer()
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 40_MiB, 1).alloc(0x20000000, 60_MiB, 2).free(0x20000000);
    return log.alloc(0x30000000, 30_MiB, 3).free(0x30000000);
}

// A size below zero, rounded up, is no small size.
TEST(MakePlan, NoCardHasASizeThatNoDeviceHas)
{
    LogBuilder log = with_a_buffer();
    log.failed(2, 0 - 384_KiB, "cuMemAlloc_v2", 4)
        .out_of_memory({.device = 0, .requested = 0 - 384_KiB, .total = 1024_MiB});
    PlanOptions options;
    options.policies = {"none", "cache", "split", "torch"};
    const Plan plan = plan_of(log, options);
    for (const PlanPolicy& policy : plan.processes.at(0).devices.at(0).policies)
        EXPECT_EQ(policy.smallest_card, std::nullopt) << policy.name;
}

// What a pool keeps may be more on a larger card, so that another device needs the larger one.
TEST(MakePlan, TheAnswerIsOfTheDeviceThatDoesNotFit)
{
    const auto device = [](std::int32_t number, std::uint64_t smallest, bool fits) {
        PlanPolicy policy;
        policy.smallest_card = smallest;
        policy.cards.resize(1);
        policy.cards[0].bytes = 60_MiB;
        policy.cards[0].fits = fits;
        PlanDevice found;
        found.device = number;
        found.policies = {policy};
        return found;
    };
    Plan plan;
    plan.cards = {60_MiB};
    plan.processes.resize(1);
    plan.processes[0].devices = {device(0, 52_MiB, false), device(1, 60_MiB, true)};
    ASSERT_NE(plan.answer().device, nullptr);
    EXPECT_EQ(plan.answer().device->device, 0);
    plan.processes[0].devices[0].policies[0].cards[0].fits = true;
    EXPECT_EQ(plan.answer().device->device, 1) << "else of the one that needs the most";
}

// With a knob another device may need the most: a card has to do for each.
TEST(MakePlan, TheBestKnobIsTheBestOfAllDevicesAndProcesses)
{
    const auto device = [](std::uint64_t recorded, std::uint64_t knob, std::uint64_t other) {
        PlanDevice found;
        found.policies.resize(3);
        const std::uint64_t cards[] = {recorded, knob, other};
        for (std::size_t at = 0; at < 3; ++at) {
            found.policies[at].name = std::string("policy ") + std::to_string(at);
            found.policies[at].smallest_card = cards[at];
        }
        return found;
    };
    for (const bool of_one_process : {true, false}) {
        Plan plan;
        plan.cards = {60_MiB};
        plan.processes.resize(2);
        plan.processes[0].devices = {device(100_MiB, 50_MiB, 90_MiB)};
        plan.processes[of_one_process ? 0 : 1].devices.push_back(device(80_MiB, 80_MiB, 70_MiB));
        const PlanAnswer answer = plan.answer();
        ASSERT_NE(answer.best, nullptr);
        EXPECT_EQ(answer.best->name, "policy 1");
        EXPECT_EQ(answer.best_card, 80_MiB);
        EXPECT_EQ(answer.saved, 20_MiB);
        EXPECT_EQ(answer.missing, 20_MiB);
        EXPECT_EQ(answer.lower, &plan.processes[of_one_process ? 0 : 1].devices.back());
    }
}

// A line through whole numbers reaches whole numbers, whatever its slope's last bit is.
TEST(FindScale, TheLargestThatJustFitsFits)
{
    for (std::uint64_t each = 1; each < 40; ++each)
        for (const std::uint64_t fixed : {0u, 7u, 74u}) {
            Plan plan;
            const Dimension dimension{"batch", {8, 16, 32}};
            for (const std::uint64_t batch : dimension.values) {
                PlanDevice device;
                device.live_peak = (fixed + each * batch) * 1_MiB;
                device.policies.resize(1);
                device.policies[0].smallest_card = device.live_peak;
                plan.processes.emplace_back().devices.push_back(device);
            }
            plan.cards = {(fixed + each * 42) * 1_MiB};
            EXPECT_EQ(find_scale(dimension, plan).cards.at(0).largest, 42u) << each << " " << fixed;
            plan.cards = {(fixed + each * 42) * 1_MiB - 1};
            EXPECT_EQ(find_scale(dimension, plan).cards.at(0).largest, 41u) << each << " " << fixed;
        }
}

TEST(MakePlan, NamesThoseThatHaveThePeak)
{
    const Plan plan = plan_of(with_a_buffer(), without_allocator());
    ASSERT_EQ(plan.processes.size(), 1u);
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(plan.verdict, PlanVerdict::fits);
    EXPECT_EQ(device.live_peak, 100_MiB);
    EXPECT_EQ(device.policies.at(0).smallest_card, 100_MiB);
    ASSERT_EQ(device.holders.size(), 2u);
    EXPECT_EQ(device.holders[0].bytes, 60_MiB);
    EXPECT_EQ(device.holders[1].bytes, 40_MiB);
    EXPECT_EQ(device.holders[1].stack.at(0).offset, 0x1000u);
}

TEST(MakePlan, SaysThatNothingWasAskedFor)
{
    LogBuilder log = on_device();
    log.alloc(0x1000, 9_MiB, 0, "cuMemHostAlloc");
    const Plan plan = plan_of(log, {});
    EXPECT_EQ(plan.verdict, PlanVerdict::nothing);
    EXPECT_EQ(plan.exit_status(), 110);
}

TEST(MakePlan, ProvesASavingByAReplay)
{
    const Plan plan = plan_of(with_a_buffer(), without_allocator());
    const PlanDevice& device = plan.processes[0].devices.at(0);
    ASSERT_EQ(device.savings.size(), 1u);
    EXPECT_EQ(device.savings[0].kind, AdviceKind::never_freed);
    EXPECT_EQ(device.savings[0].bytes, 40_MiB);
    EXPECT_EQ(device.savings[0].saves_reserved, 40_MiB);
    EXPECT_EQ(device.savings[0].saves_live, 40_MiB);
}

// Another peak is nearly as high, and the buffer is there too.
TEST(MakePlan, SavesNoMoreThanTheNextPeakLeaves)
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 40_MiB, 1).alloc(0x40000000, 55_MiB, 3).free(0x40000000);
    log.alloc(0x20000000, 60_MiB, 2).free(0x20000000);
    const Plan plan = plan_of(log, without_allocator());
    const PlanSaving& saving = plan.processes[0].devices.at(0).savings.at(0);
    EXPECT_EQ(saving.bytes, 40_MiB);
    EXPECT_EQ(saving.saves_live, 5_MiB);
    EXPECT_EQ(saving.saves_reserved, 4_MiB); // the driver rounds up 55 MiB to 56
}

TEST(MakePlan, AllocatesLaterWhatIsKeptForALaterRange)
{
    LogBuilder log = on_device();
    log.push("load").alloc(0x10000000, 40_MiB, 1).pop();
    log.push("train").alloc(0x20000000, 60_MiB, 2).free(0x20000000).pop();
    log.push("test").free(0x10000000).pop();
    const Plan plan = plan_of(log, without_allocator());
    const PlanDevice& device = plan.processes[0].devices.at(0);
    ASSERT_EQ(device.savings.size(), 1u);
    EXPECT_EQ(device.savings[0].kind, AdviceKind::allocated_early);
    EXPECT_EQ(device.savings[0].phase, "test");
    EXPECT_EQ(device.savings[0].saves_reserved, 40_MiB);
}

// An allocator that keeps what is freed for its own size.
PlanOptions with_a_cache()
{
    PlanOptions options;
    options.policies = {"cache"};
    return options;
}

LogBuilder one_behind_the_other()
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 40_MiB, 1).free(0x10000000);
    return log.alloc(0x20000000, 60_MiB, 2).free(0x20000000);
}

TEST(MakePlan, ProvesWhatOneBufferForTwoStacksSaves)
{
    const Plan plan = plan_of(one_behind_the_other(), with_a_cache());
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(device.policies.at(0).peak_reserved, 100_MiB);
    ASSERT_EQ(device.sharing.size(), 1u);
    const PlanSharing& sharing = device.sharing[0];
    EXPECT_EQ(sharing.bytes, 60_MiB);
    EXPECT_EQ(sharing.first.bytes + sharing.second.bytes, 100_MiB);
    EXPECT_FALSE(sharing.at_once);
    EXPECT_EQ(sharing.saves_reserved, 40_MiB);
}

TEST(MakePlan, SharesNothingWhereMemoryIsReusedAnyway)
{
    const Plan plan = plan_of(one_behind_the_other(), without_allocator());
    EXPECT_TRUE(plan.processes[0].devices.at(0).sharing.empty());
}

// A buffer of its own would save the first stack 40 MiB: only the rest is sharing's.
TEST(MakePlan, DoesNotTakeForSharingWhatOneStackSavesAlone)
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 40_MiB, 1).free(0x10000000).alloc(0x20000000, 60_MiB, 1).free(0x20000000);
    log.alloc(0x30000000, 2_MiB, 2);
    const Plan plan = plan_of(log, with_a_cache());
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(device.policies.at(0).peak_reserved, 102_MiB);
    ASSERT_EQ(device.sharing.size(), 1u);
    EXPECT_EQ(device.sharing[0].bytes, 60_MiB);
    EXPECT_EQ(device.sharing[0].saves_reserved, 2_MiB);
}

TEST(MakePlan, LaysBesideEachOtherWhatLivesAtOnce)
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 40_MiB, 1).alloc(0x20000000, 20_MiB, 2).free(0x10000000);
    log.alloc(0x30000000, 44_MiB, 2).free(0x30000000).free(0x20000000);
    const Plan plan = plan_of(log, with_a_cache());
    const PlanDevice& device = plan.processes[0].devices.at(0);
    ASSERT_EQ(device.sharing.size(), 1u);
    EXPECT_EQ(device.sharing[0].bytes, 64_MiB);
    EXPECT_TRUE(device.sharing[0].at_once);
    EXPECT_EQ(device.sharing[0].saves_reserved, 40_MiB);
}

TEST(MakePlan, SaysWhichBlockPinsASegment)
{
    LogBuilder log = on_device();
    log.header().suballocated = 1;
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    log.alloc(kSegment, 20_MiB).alloc(kSegment, 8_MiB, 1, "PyTorch");
    log.alloc(kSegment + 8_MiB, 2_MiB, 2, "PyTorch").alloc(kSegment + 10_MiB, 9_MiB, 3, "PyTorch");
    log.free(kSegment, "PyTorch").free(kSegment + 10_MiB, "PyTorch");
    const Plan plan = plan_of(log, {});
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(device.policies.at(0).name, "torch");
    ASSERT_EQ(device.pins_at_end.size(), 1u);
    EXPECT_EQ(device.pins_at_end[0].pinned, 18_MiB);
    EXPECT_EQ(device.pins_at_end[0].bytes, 2_MiB);
    EXPECT_EQ(device.pins_at_end[0].stack.at(0).offset, 0x2000u);
}

TEST(MakePlan, CountsWhatIsTakenBesideOnEachCard)
{
    LogBuilder log = on_device();
    log.alloc(0x10, 24_MiB, 1, "cuArrayCreate_v2").alloc(0x10000000, 8_MiB, 2);
    PlanOptions options = without_allocator();
    options.cards = {30_MiB, 32_MiB};
    const Plan plan = plan_of(log, options);
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(plan.verdict, PlanVerdict::does_not_fit);
    EXPECT_EQ(plan.exit_status(), 100);
    EXPECT_EQ(device.policies.at(0).smallest_card, 32_MiB);
    EXPECT_FALSE(device.policies[0].cards.at(0).fits);
    EXPECT_TRUE(device.policies[0].cards.at(1).fits);
    ASSERT_TRUE(device.policies[0].cards[0].shortage);
    EXPECT_EQ(device.policies[0].cards[0].shortage->beside, 24_MiB);
}

// A block of 1 MiB takes 2 MiB of the driver's.
TEST(MakePlan, TakesTheDriversRoundingOutOfTheBase)
{
    LogBuilder log = on_device();
    log.alloc(0x10000000, 1_MiB, 1).device_memory(1024_MiB - 302_MiB, 1024_MiB);
    log.alloc(0x20000000, 60_MiB, 2);
    const Plan plan = plan_of(log, without_allocator());
    EXPECT_EQ(plan.processes[0].devices.at(0).base, 300_MiB);
}

TEST(MakePlan, KnowsAnAllocationThatTheDriverWasAskedWithin)
{
    LogBuilder log = on_device();
    log.info("pool.mode", "cache");
    log.segment(0x10000000, 1_MiB).device_memory(1024_MiB - 302_MiB, 1024_MiB);
    log.pooled(0x10000000, 1_MiB);
    const Plan plan = plan_of(log, {});
    EXPECT_EQ(plan.processes[0].devices.at(0).policies.at(0).name, "cache");
    EXPECT_EQ(plan.processes[0].devices.at(0).base, 300_MiB);
}

TEST(MakePlan, TakesOverWhatWasThereBeforeTheRecording)
{
    constexpr std::uint64_t kSegment = 0x1'0000'0000;
    LogBuilder log = on_device();
    log.header().suballocated = 1;
    log.info("imported", "a test").at(log.header().start_ticks).alloc(kSegment, 20_MiB);
    log.at(log.header().start_ticks).alloc(kSegment, 8_MiB, 1, "PyTorch");
    log.at(log.header().start_ticks + 1000).alloc(kSegment + 8_MiB, 2_MiB, 2, "PyTorch");
    const Plan plan = plan_of(log, {});
    const PlanDevice& device = plan.processes[0].devices.at(0);
    EXPECT_EQ(device.requests, 1u);
    EXPECT_EQ(device.live_peak, 10_MiB);
    EXPECT_EQ(device.policies.at(0).peak_reserved, 20_MiB);
    EXPECT_EQ(device.holders.size(), 2u);
}

TEST(Scale, FitsALineAndItsError)
{
    const PlanLine exact = fit_line({1, 2, 4}, {30, 50, 90});
    EXPECT_NEAR(exact.each, 20, 1e-9);
    EXPECT_NEAR(exact.fixed, 10, 1e-9);
    EXPECT_NEAR(exact.error, 0, 1e-9);
    EXPECT_GT(fit_line({1, 2, 4}, {30, 60, 90}).error, 1);
    EXPECT_EQ(fit_line({1, 2}, {30, 60}).error, 0);
}

TEST(Scale, KnowsHowFarOffItMayBeFromThreeRunsOn)
{
    EXPECT_EQ(fit_line({1, 2}, {30, 60}).most_off(), 0);
    const PlanLine of_three = fit_line({1, 2, 3}, {100, 201, 300});
    EXPECT_TRUE(of_three.straight);
    EXPECT_NEAR(of_three.most_off(), 12.71 * of_three.error, 1e-9);
    const PlanLine of_five = fit_line({1, 2, 3, 4, 5}, {100, 201, 300, 401, 500});
    EXPECT_NEAR(of_five.most_off(), 3.18 * of_five.error, 1e-9);
    EXPECT_FALSE(fit_line({1, 2, 3}, {100, 400, 300}).straight);
}

TEST(Scale, ReadsItsDimension)
{
    const Dimension dimension = read_dimension("batch=8,16", 2);
    EXPECT_EQ(dimension.name, "batch");
    EXPECT_EQ(dimension.values, (std::vector<std::uint64_t>{8, 16}));
    for (const char* const wrong :
         {"batch", "=8,16", "batch=8,", "batch=8,x", "batch=0,1", "batch=8,8"})
        EXPECT_THROW(read_dimension(wrong, 2), Error) << wrong;
}

} // namespace
} // namespace vramscope::report::plan
