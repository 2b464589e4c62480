// report/replay/steps.hpp — the steps of a program's work, told by ranges and marks.
//
// Feed it every record of a LogReader twice: before HeapReplay has it, and after. HeapReplay knows
// which ranges are open. Names that differ in their numbers alone ("step 1", "step 2") are one. For
// the first kMostNames names, the ends of their steps are kept; one of these names is chosen when
// the log has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "report/log/chunk_cursor.hpp"
#include "report/replay/heap/phases.hpp"
#include "report/replay/step_counter.hpp"

namespace vramscope::report {

struct StepName {
    std::string name;      // numbers as '#'
    bool mark = false;     // else a range
    std::size_t depth = 0; // the least number of ranges that were open around it
    StepCounter counter;   // ends of the range, or the marks
};

// The life of a program.
struct Work {
    const StepCounter& allocations;
    std::uint64_t begin_ticks = 0;
    std::uint64_t end_ticks = 0;
};

// A place that allocates.
struct StepPlace {
    std::span<const std::string> ranges; // around it, numbers as '#'
    std::uint64_t first_ticks = 0;       // of its allocations
    std::uint64_t last_ticks = UINT64_MAX;
};

class Steps {
public:
    static constexpr std::size_t kMostNames = 1024;
    static constexpr std::uint64_t kFewest = 4;  // fewer are no steps
    static constexpr std::uint64_t kProving = 5; // fewer cannot prove growth

    explicit Steps(const Phases& phases) : phases_(phases) {} // they outlive this

    [[gnu::noinline]] void before(const Record& record);
    void after(const Record& record);

    // What the work is best counted by. Of names that cover at least half of the time that any
    // name covers: those that say step or iteration go first, then batch and epoch, then those
    // with many instances, the outer before the inner. Others than the first ones must be there in
    // both halves of the work. CCCL's own ranges are no steps. nullptr: none of them is there at
    // least kFewest times.
    const StepName* best(const Work& work) const;
    // What a place is best counted by: the best of the ranges around it; else the best of those
    // that say something of it. Steps that were over when it began do not, if most of the work came
    // behind them; nor do those that began when it was over, unless they say step: then it was what
    // comes before the steps.
    const StepName* best_of(const StepPlace& place, const Work& work) const;
    // What the user names: a range before a mark. nullptr: there is none.
    const StepName* named(std::string_view name) const;

    const std::vector<StepName>& all() const noexcept { return names_; }

    auto state() noexcept { return std::tie(names_, name_of_kind_); } // see report/checkpoint
    bool rebuild();

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint64_t most_covered() const noexcept;
    std::uint32_t index_of(std::string_view name, bool mark);
    void meet(PhaseKind kind);

    const Phases& phases_;
    std::vector<StepName> names_;
    std::vector<std::uint32_t> name_of_kind_{kNone}; // indexes into names_, or kNone
    std::unordered_map<std::string, std::uint32_t> ranges_;
    std::unordered_map<std::string, std::uint32_t> marks_;
};

} // namespace vramscope::report
