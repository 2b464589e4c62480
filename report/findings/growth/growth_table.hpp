// report/findings/growth/growth_table.hpp — the growth of every place, as a reader sees places.
//
// Places of one memory, device and visible call stack are one row, whatever their contexts, ranges
// and hidden frames. Only places that may grow, or that lost something, are looked up in symbols.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/findings/growth/chosen_steps.hpp"
#include "report/findings/growth/growth_rule.hpp"
#include "report/findings/places/log_source.hpp"
#include "report/model/leaks.hpp"
#include "report/replay/growth.hpp"
#include "report/replay/heap/phases.hpp"

namespace vramscope::report {

struct GrowthSource {
    const Sites& sites;
    const Phases& phases;
    const GrowthSeries& series;
    ChosenSteps steps;
    const StepName* wanted; // what growth is told per; nullptr: what suits a place best
    Work work;              // without the program's exit
    std::uint64_t log_end_ticks;
};

class GrowthTable {
public:
    GrowthTable(const GrowthSource& source, const std::vector<LostBlocks>& lost,
                const LeakSource& process);

    // Fills in its class and its rate. `last_ticks`: when its last block was allocated.
    void classify(Leak& leak, std::uint64_t last_ticks) const;
    // The same for objects, whether any is left or not. Returns how many of growing ones were alive
    // at once, at least.
    std::uint64_t classify_objects(Leak& objects, std::uint64_t last_ticks) const;
    // The same for all leaks of a function together.
    void classify_sum(LeakSum& sum, std::uint64_t last_ticks) const;

    // The places that grow, the fastest first; and in place of those of a function that grows by
    // more than they tell, the function.
    std::vector<Growth> growing() const;

    // Whose place tells of it in place of this one's; empty: its own does.
    std::string told_by(const Leak& leak) const;

private:
    struct Row {
        CallPlace place;
        format::Memory memory = format::Memory::none;
        std::int32_t device = -1;
        std::string phase; // the one that most of its blocks have
        const StepName* steps = nullptr;
        std::uint64_t most_allocations = 0; // the most of any of its parts
        bool lost = false;
        bool has_live = false; // at the end, though it is not listed
        std::string function;  // key of the one that it is in; empty: it is in none's sum
        std::vector<PlaceSeries> lost_parts;
        std::vector<PlaceSeries> parts;    // all others
        CallPlace lost_place, other_place; // of the first of each
        PlaceSeries series;
        GrowthFinding finding;
        // What grew and was freed in the end, where what is lost did not grow: of that alone are
        // the series and the finding then.
        std::shared_ptr<const Row> freed;
    };

    // Of rows that lost something, by LeakSum.
    struct Function {
        Row sum; // the place is that of its largest row
        std::set<std::string> lines;
        std::size_t stacks = 0;
        double told = 0; // of its rate, by rows that grow by themselves
        bool tells = false;
    };

    void add(const std::vector<SiteId>& sites, bool loses, StackReader& stacks);
    void judge(Row& row) const;
    void judge_series(Row& row) const;
    void part(Row& row, const StepName* steps) const;
    void sum_up_functions();
    const Function*
    teller_of(const Row& row) const; // in the place of its own; null: it tells itself
    void classify(Leak& leak, std::uint64_t last_ticks, const Row& row) const;
    Growth growth_of(const Row& row) const;
    GrowthContext context_of(const StepName* steps) const;
    static std::string key_of(format::Memory memory, std::int32_t device, const std::string& place);

    const GrowthSource source_;
    const bool has_steps_; // whatever place they suit
    const TickClock& clock_;
    std::size_t process_;
    std::map<std::string, Row> rows_;
    std::map<std::string, Function> functions_;
};

} // namespace vramscope::report
