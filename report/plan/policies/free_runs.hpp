// report/plan/policies/free_runs.hpp — which steps of a page are used, and where so many are not.
//
// A bit for each step, and above each 64 of them a tree: each node knows the longest run of free
// steps in its part of the page, and those at both its ends. So the first run that is long enough
// is found by one way down, however many shorter ones are before it.
#pragma once

#include <array>
#include <cstdint>

namespace vramscope::report::plan {

class FreeRuns {
public:
    static constexpr unsigned kSteps = 4096;

    FreeRuns() noexcept; // all are free

    unsigned longest() const noexcept { return nodes_[1].longest; }
    // Where the first run begins that is so long: there is one. It is used then. 1 to kSteps.
    unsigned take(unsigned steps) noexcept;
    void give_back(unsigned first, unsigned steps) noexcept; // as take() gave them

private:
    static constexpr unsigned kWords = kSteps / 64;

    struct Node { // in steps
        std::uint16_t before, longest, behind;
    };

    unsigned find(unsigned steps) const noexcept;
    void mark(unsigned first, unsigned steps, bool use) noexcept;

    std::array<std::uint64_t, kWords> used_{};
    std::array<Node, 2 * kWords>
        nodes_; // node n has 2n and 2n+1 below it, the last level the words
};

} // namespace vramscope::report::plan
