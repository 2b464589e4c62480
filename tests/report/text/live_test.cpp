// tests/report/text/live_test.cpp — a screen of running programs: what it says, and that it fits.
#include "report/text/live.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

using Lines = std::vector<std::string>;

LiveProgram program(std::uint32_t pid)
{
    LiveProgram program;
    LiveState& state = program.state;
    state.pid = pid;
    state.program = "train\x1b[2J";
    state.age_ns = 75'000'000'000;
    state.device_bytes = 3u << 20;
    state.device_blocks = 1200;
    state.peak_device_bytes = 5u << 20;
    state.host_bytes = 4096;
    state.host_blocks = 1;
    state.peak_host_bytes = 8192;
    state.devices.push_back({.ordinal = 0,
                             .name = "Simulated GPU",
                             .total_bytes = 24u << 20,
                             .held_bytes = 3u << 20,
                             .blocks = 1200});
    Leak leak;
    leak.bytes = 2u << 20;
    leak.blocks = 1000;
    leak.api = "cudaMalloc";
    leak.stack = {Frame{.function = "Trainer::step(\x1b[31mint)",
                        .file = "/src/train.cu",
                        .line = 42,
                        .module = {}}};
    state.stacks = {leak, leak, leak};
    state.more_stacks = 2;
    program.rates = {1234.4, 600.5, 0};
    return program;
}

TEST(LiveText, SaysWhatIsHeldHowFastItChangesAndWhereItComesFrom)
{
    LiveProgram one = program(4711);
    one.state.stacks.resize(1);
    EXPECT_EQ(live_lines({one}, {}),
              (Lines{"train\\x1b[2J (process 4711), up 1:15 min",
                     "  holds       3 MiB in 1,200 blocks, host 4 KiB in 1 block",
                     "  peak        5 MiB requested, host 8 KiB",
                     "  rate        1,234 events/s, 601 allocations/s, 0 frees/s",
                     "  device 0    3 MiB in 1,200 blocks [|||                 ]  12 % of 24 MiB, "
                     "Simulated GPU",
                     "       bytes    blocks  allocated by",
                     "       2 MiB     1,000  cudaMalloc  Trainer::step(\\x1b[31mint) train.cu:42",
                     "  ... and 2 more call stacks"}));
}

TEST(LiveText, ShowsWhatThePoolReservedAndKeeps)
{
    LiveProgram one = program(4711);
    LiveDevice& device = one.state.devices[0];
    device.pooled = true;
    device.reserved_bytes = 9u << 20;
    device.allocated_bytes = 4u << 20;
    const auto pool_line = [&] { return live_lines({one}, {}).at(5); };
    EXPECT_EQ(pool_line(), "              9 MiB reserved: 4 MiB allocated, 5 MiB cached");
    device.pending_bytes = 1u << 20;
    EXPECT_EQ(pool_line(), "              9 MiB reserved: 4 MiB allocated, 5 MiB cached "
                           "(1 MiB not safe to reuse yet)");
}

TEST(LiveText, TellsOfLostEventsAndOfTheEnd)
{
    LiveProgram one = program(4711);
    one.state.lost_events = 3;
    one.ended = true;
    const Lines lines = live_lines({one}, {});
    EXPECT_EQ(lines[0], "train\\x1b[2J (process 4711) has ended, after 1:15 min");
    EXPECT_NE(std::find(lines.begin(), lines.end(),
                        "  3 events not recorded: what is held may be more or less"),
              lines.end());
}

TEST(LiveText, SaysHowFarALongLogIsRead)
{
    LiveProgram one = program(4711);
    one.state.fraction_read = 0.349;
    one.state.read_to_ns = 12'500'000'000;
    const Lines lines = live_lines({one}, {});
    EXPECT_EQ(lines[1], "  34 % of its log is read: this is what it held at 12.5 s");
    for (const std::string& line : lines) // of what is not up to date nobody knows how fast
        EXPECT_EQ(line.find("events/s"), std::string::npos);
}

TEST(LiveText, ShowsAsManyStacksAsAreWantedAndCountsTheOthers)
{
    const Lines lines = live_lines({program(1), program(2)}, {.stacks = 1});
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "  ... and 4 more call stacks"), 2);
}

TEST(LiveText, IsColoredOnlyWhenAskedFor)
{
    for (const std::string& line : live_lines({program(1)}, {}))
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_EQ(live_lines({program(1)}, {.color = true})[0].rfind("\x1b[1m", 0), 0u);
}

TEST(LiveText, SaysSinceWhenItGrowsAndHowSureThatIs)
{
    constexpr std::uint64_t kOpened = 1'000'000'000; // long ago, so that there is a date
    LiveProgram one = program(4711);
    one.state.opened_real_ns = kOpened;
    one.state.growing.resize(1);
    one.state.growing[0].rate.confidence = 0.9951;
    one.state.findings = {{HeadlineKind::growth, "Grows", ": 64 KiB per call", {}}};
    const Lines lines = live_lines({one}, {});
    const auto found = std::find(lines.begin(), lines.end(), "  GROWS: 64 KiB per call");
    ASSERT_NE(found, lines.end());
    EXPECT_TRUE((found + 1)->starts_with("    since 19")) << *(found + 1); // 1969 or 1970
    EXPECT_TRUE((found + 1)->ends_with(", 99.5 % sure")) << *(found + 1);
}

} // namespace
} // namespace vramscope::report
