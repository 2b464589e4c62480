// report/page/thin.cpp — see thin.hpp.
#include "report/page/thin.hpp"

#include <algorithm>

namespace vramscope::report {

std::vector<MemoryTime> thinned(const std::vector<MemoryTime>& times, std::size_t most)
{
    if (times.size() <= most)
        return times;
    // Equal spans of time: a burst of points must not take the room of a quiet hour.
    const std::uint64_t begin = times.front().ns;
    const std::uint64_t width = (times.back().ns - begin) / std::max<std::size_t>(most, 1) + 1;
    std::vector<MemoryTime> fewer;
    std::uint64_t last_span = 0;
    for (const MemoryTime& time : times) {
        const std::uint64_t span = (time.ns - begin) / width;
        if (!fewer.empty() && span == last_span)
            fewer.back().join(time);
        else
            fewer.push_back(time);
        last_span = span;
    }
    return fewer;
}

} // namespace vramscope::report
