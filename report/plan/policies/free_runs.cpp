// report/plan/policies/free_runs.cpp — the tree of free runs in a page.
#include "report/plan/policies/free_runs.hpp"

#include <algorithm>
#include <bit>

namespace vramscope::report::plan {
namespace {

// The bits of `ones` at which a run of `length` ones begins. Each turn makes the run that is
// looked for twice as long.
std::uint64_t begins_of_runs(std::uint64_t ones, unsigned length) noexcept
{
    for (unsigned have = 1; have < length;) {
        const unsigned more = std::min(have, length - have);
        ones &= ones >> more;
        have += more;
    }
    return ones;
}

unsigned longest_run(std::uint64_t ones) noexcept
{
    unsigned longest = 0;
    while (ones) {
        ones >>= std::countr_zero(ones);
        const auto run = static_cast<unsigned>(std::countr_one(ones));
        longest = std::max(longest, run);
        ones = run < 64 ? ones >> run : 0;
    }
    return longest;
}

} // namespace

FreeRuns::FreeRuns() noexcept
{
    for (unsigned at = 1; at < nodes_.size(); ++at) {
        const auto steps = static_cast<std::uint16_t>(kSteps / std::bit_floor(at));
        nodes_[at] = {steps, steps, steps};
    }
}

unsigned FreeRuns::take(unsigned steps) noexcept
{
    const unsigned first = find(steps);
    mark(first, steps, true);
    return first;
}

void FreeRuns::give_back(unsigned first, unsigned steps) noexcept
{
    mark(first, steps, false);
}

unsigned FreeRuns::find(unsigned steps) const noexcept
{
    unsigned at = 1, begin = 0, half = kSteps / 2;
    for (; at < kWords; half /= 2) {
        const Node &left = nodes_[2 * at], &right = nodes_[2 * at + 1];
        if (left.longest < steps && left.behind + right.before >= static_cast<int>(steps))
            return begin + half - left.behind;
        const bool in_left = left.longest >= steps;
        at = 2 * at + !in_left;
        begin += in_left ? 0 : half;
    }
    const std::uint64_t begins = begins_of_runs(~used_[at - kWords], steps);
    return begin + static_cast<unsigned>(std::countr_zero(begins));
}

void FreeRuns::mark(unsigned first, unsigned steps, bool use) noexcept
{
    for (unsigned at = first; at < first + steps;) {
        const unsigned count = std::min(64 - at % 64, first + steps - at);
        const std::uint64_t bits = (~std::uint64_t{0} >> (64 - count)) << at % 64;
        std::uint64_t& word = used_[at / 64];
        word = use ? word | bits : word & ~bits;
        nodes_[kWords + at / 64] = {static_cast<std::uint16_t>(std::countr_zero(word)),
                                    static_cast<std::uint16_t>(longest_run(~word)),
                                    static_cast<std::uint16_t>(std::countl_zero(word))};
        at += count;
    }
    unsigned low = kWords + first / 64, high = kWords + (first + steps - 1) / 64;
    for (unsigned half = 64; low > 1; half *= 2) {
        low /= 2;
        high /= 2;
        for (unsigned at = low; at <= high; ++at) {
            const Node &left = nodes_[2 * at], &right = nodes_[2 * at + 1];
            const auto sum = [](unsigned one, unsigned other) {
                return static_cast<std::uint16_t>(one + other);
            };
            nodes_[at] = {left.before == half ? sum(half, right.before) : left.before,
                          std::max({left.longest, right.longest, sum(left.behind, right.before)}),
                          right.behind == half ? sum(half, left.behind) : right.behind};
        }
    }
}

} // namespace vramscope::report::plan
