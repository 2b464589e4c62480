// report/reach/driver_reach.hpp — what the driver's own variables lead to.
//
// From them down, by way of heap blocks, unlike a HolderSearch: each block is read once, so that it
// costs what the driver has, and not a search of all memory for each level.
#pragma once

#include <set>

#include "report/reach/holder_search.hpp"

namespace vramscope::report {

// Of these heap blocks, by their beginnings, those that the driver, the runtime and vramscope lead
// to over 64 levels at most: a tree of a million has 40.
std::set<Address> led_to_by_the_driver(const SearchedMemory& searched,
                                       const std::set<Address>& blocks);

} // namespace vramscope::report
