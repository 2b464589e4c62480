// report/rules/hold_rules.cpp — one more reading, with a replay of its own.
#include "report/rules/hold_rules.hpp"

#include <algorithm>

#include "report/rules/rule_watch.hpp"

namespace vramscope::report {

std::vector<RuleOutcome> hold_rules(const Rules& rules, const LogFile& file,
                                    const ReadingExtent& extent, Symbolizer& symbolizer)
{
    Reading reading(file, extent);
    HeapReplay heap(reading.tables(), file.header().exit_began_ticks);
    StackReader all(reading.tables(), symbolizer,
                    ShownFrames::all); // conditions look at each frame
    StackReader own(reading.tables(), symbolizer, ShownFrames::own);
    RuleWatch watch(rules, reading.tables(), heap.sites(), all);
    heap.watch(watch);
    MisuseReplay misuse(reading.tables());
    const bool forbids_misuse = std::ranges::any_of(
        rules.rules, [](const Rule& rule) { return rule.forbidden == RuleEvent::misuse; });
    reading.read(heap, {}, [&](const Record& record) {
        watch.before(record);
        heap.apply(record);
        if (!forbids_misuse)
            return;
        misuse.apply(record);
        if (const LoggedMisuse* const wrong = misuse.latest())
            watch.misused(*wrong, record.thread, 1);
    });
    return watch.outcomes(own);
}

std::vector<RuleOutcome> hold_rules(const Rules& rules, LogTables& tables, const LogSums& sums,
                                    Symbolizer& symbolizer)
{
    StackReader all(tables, symbolizer, ShownFrames::all);
    StackReader own(tables, symbolizer, ShownFrames::own);
    RuleWatch watch(rules, tables, sums.sites, all);
    watch.take_sums(sums.contexts);
    for (const LoggedMisuse& misuse : sums.misuse.groups())
        watch.misused(misuse, 0, misuse.calls);
    return watch.outcomes(own);
}

} // namespace vramscope::report
