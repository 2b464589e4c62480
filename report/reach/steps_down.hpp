// report/reach/steps_down.hpp — how many steps lead down to blocks of the heap.
//
// Down from variables, by way of heap blocks, unlike a HolderSearch: each block is read once, so
// that it costs what is there, and not a search of all memory for each level.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "report/reach/holder_search.hpp"

namespace vramscope::report {

using StepsTo = std::map<Address, unsigned>; // by where a block begins

inline constexpr unsigned kMostStepsDown = 64; // a tree of a million has 40

// Of these blocks, those to which the driver's, the runtime's and vramscope's variables lead.
StepsTo steps_from_the_driver(const SearchedMemory& searched, const std::set<Address>& blocks);

// Those to which the program's variables, stacks, registers and mappings lead, over so many steps.
// `handles`, sorted: what the driver gave the program to name its own objects by; what it keeps
// behind them is not the program's.
StepsTo steps_from_the_program(const SearchedMemory& searched, const std::set<Address>& blocks,
                               const std::vector<Address>& handles, unsigned most);

} // namespace vramscope::report
