// tests/report/text/live_screen_test.cpp — running programs on a screen: what finds room, and what
// its reader's choices do.
#include "report/text/live_screen.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

using Lines = std::vector<std::string>;

constexpr LiveScreenSize kUsual{.width = 80, .height = 24};

Leak stack(const std::string& function, std::uint64_t bytes)
{
    Leak leak;
    leak.bytes = bytes;
    leak.blocks = 3;
    leak.api = "cudaMalloc";
    std::vector<Frame> stack(2);
    stack[0].function = function;
    stack[0].file = "/src/" + function + ".cu";
    stack[0].line = 42;
    stack[1].function = "main";
    leak.stack = std::move(stack);
    return leak;
}

void grow(Leak& leak, double bytes_per_second)
{
    leak.leak_class = LeakClass::growing;
    leak.rate.steps = 100;
    leak.rate.per = "step";
    leak.rate.bytes_per_step = leak.rate.least_per_step = leak.rate.most_per_step = 65536;
    leak.rate.bytes_per_second = bytes_per_second;
}

// "a" holds the most, "b" grows the fastest, "c" took the most since.
LiveProgram busy_program(std::uint32_t pid)
{
    LiveProgram program;
    LiveState& state = program.state;
    state.pid = pid;
    state.program = "train\x1b[2J";
    state.age_ns = 75'000'000'000;
    state.device_bytes = 7u << 20;
    state.stacks = {stack("a", 4u << 20), stack("b", 2u << 20), stack("c", 1u << 20)};
    grow(state.stacks[0], 10);
    grow(state.stacks[1], 20);
    program.changes = {-2048.0, std::nullopt, 1048576.0};
    return program;
}

std::vector<LiveProgram> programs(std::uint32_t count)
{
    std::vector<LiveProgram> programs;
    for (std::uint32_t pid = 1; pid <= count; ++pid)
        programs.push_back(busy_program(pid));
    return programs;
}

Lines shown(const std::vector<LiveProgram>& programs, const LiveView& view = {},
            LiveScreenSize size = kUsual, bool color = false)
{
    return live_screen(programs, view, size, color, 1);
}

std::size_t lines_with(const Lines& lines, std::string_view text)
{
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(text) != std::string::npos;
        }));
}

std::string line_with(const Lines& lines, std::string_view text)
{
    const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(text) != std::string::npos;
    });
    return found == lines.end() ? "" : *found;
}

std::string functions(const LiveView& view)
{
    const LiveProgram one = busy_program(1);
    std::string all;
    for (const std::size_t at : shown_stacks(one, view))
        all += one.state.stacks[at].stack[0].function;
    return all;
}

TEST(LiveScreen, OneProgramNeedsNoTableOfPrograms)
{
    const Lines lines = shown(programs(1));
    EXPECT_EQ(lines[0], "train\\x1b[2J (process 1), up 1:15 min");
    EXPECT_EQ(lines_with(lines, "peak requested"), 0u);
    EXPECT_EQ(line_with(lines, "allocated by"),
              "       bytes    blocks    change/s  growth           allocated by");
    EXPECT_EQ(line_with(lines, "a a.cu"),
              ">      4 MiB         3      -2 KiB  64 KiB per step  a a.cu:42");
    EXPECT_EQ(line_with(lines, "c c.cu"),
              "       1 MiB         3      +1 MiB                   c c.cu:42");
    EXPECT_NE(line_with(shown(programs(1), {}, {.width = 120, .height = 24}), "cudaMalloc  a a.cu"),
              "");
    EXPECT_EQ(lines.back(), "q quits, ? lists the keys; every 1 s, by bytes");
}

TEST(LiveScreen, SeveralProgramsAreARowEachAndTheChosenOneIsWhole)
{
    const Lines lines = shown(programs(3), {.program = 2});
    EXPECT_EQ(lines_with(lines, "(process 1)"), 1u);
    EXPECT_EQ(lines_with(lines, "(process 2)"), 2u); // its row, and its head
    EXPECT_EQ(lines_with(lines, "(process 3)"), 1u);
    EXPECT_EQ(lines_with(lines, "a.cu"), 1u);
}

TEST(LiveScreen, AProgramThatIsGoneLeavesTheFirstChosen)
{
    EXPECT_EQ(chosen_program(programs(3), {.program = 3}), 2u);
    EXPECT_EQ(chosen_program(programs(2), {.program = 3}), 0u);
}

TEST(LiveScreen, TheChosenProgramIsAmongThoseThatFindRoom)
{
    for (std::uint32_t pid = 1; pid <= 40; ++pid)
        EXPECT_EQ(lines_with(shown(programs(40), {.program = pid}),
                             "(process " + std::to_string(pid) + ")"),
                  2u)
            << pid;
}

TEST(LiveScreen, SortsByBytesGrowthAndRate)
{
    EXPECT_EQ(functions({}), "abc");
    EXPECT_EQ(functions({.order = LiveOrder::growth}), "bac");
    EXPECT_EQ(functions({.order = LiveOrder::rate}), "cba");
}

TEST(LiveScreen, ATextIsLookedForInFunctionsFilesAndEntryPoints)
{
    EXPECT_EQ(functions({.match = "B.CU"}), "b");
    EXPECT_EQ(functions({.match = "cudamalloc"}), "abc");
    EXPECT_EQ(functions({.match = "main"}), "abc");
    EXPECT_EQ(functions({.match = "nowhere"}), "");
    const Lines lines = shown(programs(1), {.match = "b.cu"});
    EXPECT_EQ(lines_with(lines, "b b.cu"), 1u);
    EXPECT_EQ(lines_with(lines, "... and 2 more call stacks"), 1u);
    EXPECT_EQ(lines.back(), "q quits, ? lists the keys; every 1 s, by bytes, with /b.cu");
}

TEST(LiveScreen, ShowsATextWhileItIsTyped)
{
    EXPECT_EQ(shown(programs(1), {.match = "lo\x1b", .typing = true}).back(), "/lo\\x1b_");
}

TEST(LiveScreen, TheChosenStackStaysChosenWhereverItIs)
{
    const LiveProgram one = busy_program(1);
    const std::string key = live_key(one.state.stacks[2]);
    for (const LiveOrder order : {LiveOrder::bytes, LiveOrder::growth, LiveOrder::rate}) {
        const Lines lines = shown({one}, {.stack = key, .order = order});
        EXPECT_EQ(line_with(lines, "c c.cu").front(), '>');
        EXPECT_EQ(line_with(lines, "a a.cu").front(), ' ');
    }
    EXPECT_EQ(line_with(shown({one}, {.stack = "gone"}), "a a.cu").front(), '>');
}

TEST(LiveScreen, AnOpenStackHasItsFramesBelow)
{
    EXPECT_EQ(lines_with(shown(programs(1)), "main"), 0u);
    const Lines lines = shown(programs(1), {.stack_open = true});
    EXPECT_EQ(lines_with(lines, "4 MiB in 3 blocks by cudaMalloc, growing by 64 KiB per step"), 1u);
    EXPECT_EQ(lines_with(lines, "main"), 1u);
    // A high screen has room for it anyway.
    EXPECT_EQ(lines_with(shown(programs(1), {}, {.width = 200, .height = 50}), "main"), 1u);
}

TEST(LiveScreen, ListsItsKeys)
{
    const Lines lines = shown(programs(3), {.help = true});
    EXPECT_EQ(lines_with(lines, "choose a program"), 1u);
    EXPECT_EQ(lines_with(lines, "(process "), 0u);
}

TEST(LiveScreen, FitsAnyScreen)
{
    for (const LiveView& view : {LiveView{}, LiveView{.stack_open = true}, LiveView{.help = true}})
        for (const std::size_t width : {20u, 37u, 80u, 200u})
            for (std::size_t height = 1; height < 60; ++height) {
                const Lines lines =
                    shown(programs(3), view, {.width = width, .height = height}, true);
                EXPECT_EQ(lines.size(), height);
                for (std::string line : lines) {
                    for (const char* const colour : {"\x1b[1m", "\x1b[7m", "\x1b[0m"})
                        for (std::size_t at; (at = line.find(colour)) != std::string::npos;)
                            line.erase(at, 4);
                    EXPECT_LE(columns(line), width) << line;
                }
            }
}

TEST(LiveScreen, IsColoredOnlyWhenAskedFor)
{
    EXPECT_EQ(lines_with(shown(programs(2)), "\x1b"), 0u);
    EXPECT_EQ(lines_with(shown(programs(2), {}, kUsual, true), "\x1b[7m"), 2u);
}

} // namespace
} // namespace vramscope::report
