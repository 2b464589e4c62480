// report/job/layout.cpp — by each size of a block, and each step within it, that divide the world.
#include "report/job/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

namespace vramscope::report {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers divisors_of(std::uint32_t number)
{
    Numbers small;
    Numbers large;
    for (std::uint32_t divisor = 1; divisor * divisor <= number; ++divisor)
        if (number % divisor == 0) {
            small.push_back(divisor);
            if (divisor != number / divisor)
                large.push_back(number / divisor);
        }
    small.insert(small.end(), large.rbegin(), large.rend());
    return small;
}

// Some of a part may be missing; but where most parts have one rank, these are no parts.
bool are_parts(const Numbers& some, const Numbers& all, std::uint32_t block, std::uint32_t step)
{
    std::set<std::uint32_t> blocks;
    std::set<std::uint32_t> remainders;
    for (const std::uint32_t number : some) {
        blocks.insert(number / block);
        remainders.insert(number % step);
    }
    if (2 * some.size() < 3 * blocks.size() * remainders.size())
        return false;
    const auto in_them = std::count_if(all.begin(), all.end(), [&](std::uint32_t number) {
        return blocks.contains(number / block) && remainders.contains(number % step);
    });
    return static_cast<std::size_t>(in_them) == some.size();
}

} // namespace

bool is_part_of_layout(const Numbers& some, const Numbers& all, std::uint32_t world)
{
    if (some.size() < 2)
        return false;
    const Numbers divisors = divisors_of(world);
    for (const std::uint32_t block : divisors)
        for (const std::uint32_t step : divisors)
            if (step < block && block % step == 0 && are_parts(some, all, block, step))
                return true;
    return false;
}

} // namespace vramscope::report
