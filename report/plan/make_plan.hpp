// report/plan/make_plan.hpp — from logs to the answer: does it fit, on which card, by which knob.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/model/plan/plan.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report::plan {

struct PlanOptions {
    std::vector<std::uint64_t> cards;  // bytes of whole devices
    std::vector<std::string> policies; // names; none: the recorded one, and the usual ones
    std::string scale;                 // "batch=8,16,32", a number for each log; empty: not asked
    std::function<void(double fraction)> progress; // how far the reading is; may be empty
    std::function<bool()> interrupted;             // asked now and then; may be empty
    SymbolizerOptions symbols;
};

// One log after the other, each in memory as long as it is replayed. Throws Error: bad_input for
// what is not a readable log, usage for a policy that nobody knows.
Plan make_plan(const std::vector<std::filesystem::path>& logs, const PlanOptions& options);

} // namespace vramscope::report::plan
