// report/findings/leak_sums.hpp — leaks summed up by the innermost function of the program's own.
//
// A recursion has a call stack for each depth, a helper one for each caller: each row is a small
// part, and whether the function's memory grows only all of them together tell.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "report/model/leaks.hpp"

namespace vramscope::report {

class GrowthTable;

// Of the rows of one process, as they are found.
class LeakSums {
public:
    // `last_ticks`: when its last block was allocated. Known leaks are in no sum.
    void add(const Leak& row, std::uint64_t last_ticks);

    // The sums of several rows, where at least two of them allocate at one line. Where each row has
    // a line of its own, the rows themselves tell more.
    std::vector<LeakSum> take(std::uint64_t duration_ns, const GrowthTable* growth);

private:
    struct Sum {
        LeakSum sum;
        std::uint64_t most_bytes = 0; // bytes of its largest row
        std::uint64_t last_ticks = 0;
        std::set<std::string> places;
    };
    std::map<std::string, Sum> sums_;
};

} // namespace vramscope::report
