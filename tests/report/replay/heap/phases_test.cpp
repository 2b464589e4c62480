// tests/report/replay/heap/phases_test.cpp — NVTX ranges per thread, and how long they stay.
#include "report/replay/heap/phases.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

using Path = std::vector<std::string>;

TEST(Phases, PathGoesFromTheOutermostRangeToTheInnermost)
{
    Phases phases;
    phases.push(0, "epoch");
    phases.push(0, "step");
    EXPECT_EQ(phases.path(phases.current(0)), (Path{"epoch", "step"}));
    phases.pop(0);
    EXPECT_EQ(phases.path(phases.current(0)), (Path{"epoch"}));
}

TEST(Phases, ThreadsDoNotSeeEachOthersRanges)
{
    Phases phases;
    phases.push(0, "main");
    EXPECT_EQ(phases.current(1), 0u);
    phases.push(1, "loader");
    EXPECT_EQ(phases.path(phases.current(0)), (Path{"main"}));
    EXPECT_EQ(phases.path(phases.current(1)), (Path{"loader"}));
}

TEST(Phases, HeldPhaseOutlivesItsRange)
{
    Phases phases;
    phases.push(0, "epoch");
    phases.push(0, "step 1");
    const PhaseId held = phases.current(0);
    phases.hold(held);
    phases.pop(0);
    phases.pop(0);
    for (int other = 0; other < 100; ++other)
        phases.push(0, "other");
    EXPECT_EQ(phases.path(held), (Path{"epoch", "step 1"}));
}

TEST(Phases, NodeOfARangeThatIsOverIsUsedAgain)
{
    Phases phases;
    phases.push(0, "step");
    const PhaseId first = phases.current(0);
    phases.pop(0);
    phases.push(0, "step");
    EXPECT_EQ(phases.current(0), first);
}

TEST(Phases, PopWithoutARangeIsIgnored)
{
    Phases phases;
    phases.pop(0);
    phases.push(0, "step");
    EXPECT_EQ(phases.path(phases.current(0)), (Path{"step"}));
}

TEST(Phases, RangesBeyondTheDepthLimitAreCountedSoThatPopsStayInStep)
{
    Phases phases;
    phases.push(0, "outer");
    for (int depth = 0; depth < 1000; ++depth)
        phases.push(0, "deep");
    for (int depth = 0; depth < 1000; ++depth)
        phases.pop(0);
    EXPECT_EQ(phases.path(phases.current(0)), (Path{"outer"}));
}

TEST(Phases, InnermostKindIsNoneWhereRangesAreNotToldApart)
{
    Phases phases;
    EXPECT_EQ(phases.innermost_kind(0), 0u);
    phases.push(0, "epoch 1");
    phases.push(0, "step 1");
    const PhaseKind step = phases.innermost_kind(0);
    EXPECT_EQ(phases.kind_name(step), "epoch #/step #");
    for (int depth = 0; depth < 100; ++depth)
        phases.push(0, "deep");
    EXPECT_EQ(phases.innermost_kind(0), 0u) << "too deep";
    for (int depth = 0; depth < 100; ++depth)
        phases.pop(0);
    EXPECT_EQ(phases.innermost_kind(0), step);
    for (int name = 0; name < 5000; ++name) {
        phases.push(1, std::string(static_cast<std::size_t>(1 + name / 26), 'x') +
                           static_cast<char>('a' + name % 26));
        phases.pop(1);
    }
    phases.push(1, "one more");
    EXPECT_EQ(phases.innermost_kind(1), 0u) << "too many kinds";
    EXPECT_EQ(phases.path(phases.current(1)), (Path{"one more"}));
}

TEST(Phases, ThreadNumberOutOfBoundsHasNoPhase)
{
    Phases phases;
    phases.push(UINT32_MAX, "x");
    EXPECT_EQ(phases.current(UINT32_MAX), 0u);
}

} // namespace
} // namespace vramscope::report
