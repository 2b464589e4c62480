// report/rules/hold_rules.cpp — one more reading, with a replay of its own.
#include "report/rules/hold_rules.hpp"

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
    reading.read(heap, {}, [&](const Record& record) {
        watch.before(record);
        heap.apply(record);
    });
    return watch.outcomes(own);
}

} // namespace vramscope::report
