// tests/report/plan/free_runs_test.cpp — the first run of free steps, as by looking at each.
#include "report/plan/policies/free_runs.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

using vramscope::report::plan::FreeRuns;

namespace {

struct Model {
    std::vector<bool> used = std::vector<bool>(FreeRuns::kSteps);

    // The first run of at least `steps`, or the longest if that is 0: where it begins, its length.
    std::pair<unsigned, unsigned> run(unsigned steps) const
    {
        std::pair<unsigned, unsigned> longest{0, 0};
        unsigned length = 0;
        for (unsigned at = 0; at < used.size(); ++at) {
            length = used[at] ? 0 : length + 1;
            if (length > longest.second)
                longest = {at + 1 - length, length};
            if (steps && length == steps)
                return {at + 1 - length, length};
        }
        return longest;
    }
    void mark(unsigned first, unsigned steps, bool use)
    {
        for (unsigned at = first; at < first + steps; ++at)
            used[at] = use;
    }
};

} // namespace

TEST(FreeRuns, AllOfThePageIsOneRun)
{
    FreeRuns runs;
    EXPECT_EQ(runs.longest(), FreeRuns::kSteps);
    EXPECT_EQ(runs.take(FreeRuns::kSteps), 0u);
    EXPECT_EQ(runs.longest(), 0u);
    runs.give_back(0, FreeRuns::kSteps);
    EXPECT_EQ(runs.longest(), FreeRuns::kSteps);
}

TEST(FreeRuns, TheFirstThatIsLongEnoughIsTaken)
{
    for (const unsigned most : {3u, 70u, 700u, 2048u}) {
        std::mt19937 random(most);
        FreeRuns runs;
        Model model;
        std::vector<std::pair<unsigned, unsigned>> taken;
        int refused = 0;
        for (int step = 0; step < 4000; ++step) {
            const unsigned steps = 1 + static_cast<unsigned>(random()) % most;
            if (random() % 3 == 0 && !taken.empty()) {
                std::swap(taken[random() % taken.size()], taken.back());
                runs.give_back(taken.back().first, taken.back().second);
                model.mark(taken.back().first, taken.back().second, false);
                taken.pop_back();
            } else if (runs.longest() >= steps) {
                const unsigned first = runs.take(steps);
                ASSERT_EQ(first, model.run(steps).first) << most << ", step " << step;
                model.mark(first, steps, true);
                taken.emplace_back(first, steps);
            } else {
                ++refused;
            }
            ASSERT_EQ(runs.longest(), model.run(0).second) << most << ", step " << step;
        }
        EXPECT_TRUE(refused > 0 || most == 3) << most;
    }
}
