// report/replay/steps.hpp — ranges and marks are counted by name, as the steps of a program's work.
//
// Feed it every record of a LogReader twice: before HeapReplay has it, and after. HeapReplay knows
// which ranges are open. Names that differ in their numbers alone ("step 1", "step 2") are one. For
// the first kMostNames names, the ends of their steps are kept. Which of them are steps is chosen
// when the log has been read (report/findings/growth/chosen_steps.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
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

class Steps {
public:
    static constexpr std::size_t kMostNames = 1024;

    explicit Steps(const Phases& phases) : phases_(phases) {} // they outlive this

    [[gnu::noinline]] void before(const Record& record);
    void after(const Record& record);

    // What the user names: a range before a mark. nullptr: there is none.
    const StepName* named(std::string_view name) const;

    const std::vector<StepName>& all() const noexcept { return names_; }
    bool left_out_names() const noexcept { return left_out_; } // there are more than kMostNames

    auto state() noexcept // see report/checkpoint
    {
        return std::tie(names_, name_of_kind_, left_out_);
    }
    bool rebuild();

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    std::uint32_t index_of(std::string_view name, bool mark);
    void meet(PhaseKind kind);

    const Phases& phases_;
    std::vector<StepName> names_;
    std::vector<std::uint32_t> name_of_kind_{kNone}; // indexes into names_, or kNone
    bool left_out_ = false;
    std::unordered_map<std::string, std::uint32_t> ranges_;
    std::unordered_map<std::string, std::uint32_t> marks_;
};

} // namespace vramscope::report
