// report/replay/lookup/values_of.hpp — the values of a map, in the order of its keys.
#pragma once

#include <vector>

namespace vramscope::report {

template <typename Map>
std::vector<typename Map::mapped_type> values_of(const Map& map)
{
    std::vector<typename Map::mapped_type> values;
    values.reserve(map.size());
    for (const auto& [key, value] : map)
        values.push_back(value);
    return values;
}

} // namespace vramscope::report
