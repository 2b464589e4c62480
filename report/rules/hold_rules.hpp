// report/rules/hold_rules.hpp — a log against rules.
#pragma once

#include <vector>

#include "report/model/rules.hpp"
#include "report/replay/contexts.hpp"
#include "report/replay/misuse.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/rules/rule.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

// An outcome for each rule, in their order. It reads the log by itself.
std::vector<RuleOutcome> hold_rules(const Rules& rules, const LogFile& file,
                                    const ReadingExtent& extent, Symbolizer& symbolizer);

// What a collected log has in the place of events. All outlive a call that gets it.
struct LogSums {
    const Sites& sites;
    const Contexts& contexts;
    const MisuseReplay& misuse;
};
std::vector<RuleOutcome> hold_rules(const Rules& rules, LogTables& tables, const LogSums& sums,
                                    Symbolizer& symbolizer);

} // namespace vramscope::report
