// report/model/rules.hpp — what one process did with each rule of a team's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

struct RuleCall { // a place that broke it, or that had the memory when it was the most
    CallPlace place;
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;
};

struct RuleOutcome {
    std::string name;
    bool of_bytes = false;   // what is measured; else a number
    std::uint64_t limit = 0; // nothing that is forbidden may be there
    std::uint64_t measured = 0;
    std::vector<RuleCall> calls{}; // a few, the largest first
    std::string never{};           // why it never applied; empty: it did
    std::string unknown{};         // why what is measured may be too little; empty: it is not
};

} // namespace vramscope::report
