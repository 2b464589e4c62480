// report/judge/finding_kinds.hpp — the kinds of finding, a row for each.
//
// `check`, --fail-on, the formats of CI servers and the help texts read this table, so that none of
// them can forget a kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/model/check.hpp"

namespace vramscope::report {

struct GrowthRate;
struct Process;
struct ReachGroup;
struct Report;

// A row of any list of findings.
struct FoundRow {
    Culprit culprit; // the call and its sums; it points into the report
    std::size_t process = 0;
    std::string detail;               // one line: "on device 0, leaked-at-exit, once"
    bool proven = true;               // whatever else the log does not tell
    const GrowthRate* rate = nullptr; // points into the report; null: it does not grow
    // What a search of the memory found of it: points into the report. Null: it is no memory.
    const std::vector<ReachGroup>* reach = nullptr;
};

// One line of a budget before anything is measured.
struct BudgetLine {
    const char* budget; // see CheckRow, as for the other two
    CheckUnit unit;
    double limit;
};

// What of a call stack's rows `diff` compares.
enum class ComparedBy { bytes, count, rate };

struct FindingKind {
    Finding finding;
    const char* word;   // the one of --fail-on and of the JSON, and the identifier of rules
    const char* called; // the line of a budget in text: "out of memory"
    // The rule in the formats of CI servers: its name, what it means, and what to do about it.
    const char* title;
    const char* says;
    const char* help;
    std::string (*amount)(std::uint64_t bytes, std::uint64_t count); // "2 wrong frees"
    std::vector<FoundRow> (*rows)(const Report& report);             // in the order of the report
    ComparedBy compared = ComparedBy::count;
    bool anywhere = false;            // where it happens is chance: `diff` looks how often it does
    bool by_default = false;          // it fails a check that names no findings
    std::optional<Finding> with = {}; // the word of that kind asks for this one; none: its own does
    // The line that the budget has for it, where it is not "none, if --fail-on names it".
    std::optional<BudgetLine> (*line)(const Report& report, const Budget& budget,
                                      bool fails) = nullptr;
    // What a process has of it, in the unit of its line; null: its rows add up to that.
    std::uint64_t (*whole)(const Process& process) = nullptr;
};

extern const std::array<FindingKind, kFindings> kFindingKinds; // in the order of Finding

const FindingKind& kind_of(Finding finding) noexcept;
bool fails_on(const Budget& budget, const FindingKind& kind) noexcept;

} // namespace vramscope::report
