// report/model/growth.cpp — the order of rows, and their words.
#include "report/model/growth.hpp"

#include <algorithm>
#include <tuple>

namespace vramscope::report {

void sort_by_speed(std::vector<Growth>& growth)
{
    std::stable_sort(growth.begin(), growth.end(), [](const Growth& a, const Growth& b) {
        return std::tie(b.rate.bytes_per_second, b.bytes, b.blocks) <
               std::tie(a.rate.bytes_per_second, a.bytes, a.blocks);
    });
}

const char* name(LeakClass found) noexcept
{
    switch (found) {
    case LeakClass::growing:
        return "growing";
    case LeakClass::start_up:
        return "start-up";
    case LeakClass::cache:
        return "cache";
    case LeakClass::once:
        return "once";
    case LeakClass::several:
        return "several";
    case LeakClass::unclear:
        break;
    }
    return "unclear";
}

} // namespace vramscope::report
