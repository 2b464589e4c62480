// report/model/check.hpp — a budget, and a report held against it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "report/error.hpp"
#include "report/model/call_place.hpp"

namespace vramscope::report {

// What fails by being there at all; judge/finding_kinds.cpp has a row for each, in this order.
enum class Finding : std::uint8_t {
    leaks,
    unclosed_imports,
    growth,
    objects, // see HeadlineKind
    workspaces,
    out_of_memory,
    misuse,
    damage,
    failed_calls,
    stray_contexts,
};
inline constexpr std::size_t kFindings = 10;

// How much all growing stacks together may grow by.
struct GrowthBudget {
    enum class Per { step, call, second };
    double bytes = 0;
    Per per = Per::step;
};

struct Budget {
    std::optional<std::uint64_t> max_leaked; // bytes, as the next two
    std::optional<std::uint64_t> max_peak;   // most allocated memory, on any one device
    std::optional<std::uint64_t> max_reserved;
    std::optional<GrowthBudget> max_growth;
    std::optional<double> max_fragmentation; // percent of reserved, when the most was reserved
    std::optional<std::uint64_t> max_driver_calls;
    std::optional<std::uint64_t> max_leaked_objects; // that were never destroyed, of all kinds
    bool one_device = false; // each process may have contexts on one device alone
    std::optional<std::array<bool, kFindings>> fail_on; // not given: what fails by default
    bool allow_inconclusive = false;
    bool allow_unapplied = false; // rules that speak of what never was are kept
};

enum class CheckState { ok, failed, unknown };
template <>
struct Words<CheckState> {
    static constexpr format::Word<CheckState> kAll[] = {
        {CheckState::ok, "ok"}, {CheckState::failed, "failed"}, {CheckState::unknown, "unknown"}};
};
enum class CheckUnit { bytes, bytes_per_step, bytes_per_call, bytes_per_second, percent, count };
template <>
struct Words<CheckUnit> {
    static constexpr format::Word<CheckUnit> kAll[] = {
        {CheckUnit::bytes, "bytes"},
        {CheckUnit::bytes_per_step, "bytes/step"},
        {CheckUnit::bytes_per_call, "bytes/call"},
        {CheckUnit::bytes_per_second, "bytes/s"},
        {CheckUnit::percent, "percent"},
        {CheckUnit::count, "count"},
    };
};
// Bytes and counts are whole.
using Amount = std::variant<std::uint64_t, double>;
Amount amount_of(double value, CheckUnit unit);

// The call stacks that made up most of what was measured.
struct Culprit {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;          // how many blocks, calls or times
    const CallPlace* place = nullptr; // points into the report
    std::uint64_t least_bytes = 0;    // the smallest of the tries, where calls failed
    std::uint64_t most_bytes = 0;
    std::size_t process = 0; // index into Report::processes
};
template <>
struct Fields<Culprit> {
    static constexpr const char* kName = "culprit";
    static constexpr auto kAll = joined(
        FieldList{Field{"bytes", &Culprit::bytes},
                  Field{"count", &Culprit::count, "Of blocks, calls or times."},
                  Field{"process", &Culprit::process, "Index into processes."}.since(6)},
        through(&Culprit::place, joined(FieldList{kFingerprint, Field{"api", &CallPlace::api},
                                                  Field{"entry_point", &CallPlace::entry_point}},
                                        kStackFrames)));
};

// One line of a budget, over all processes.
struct CheckRow {
    // As the option is called: "max-peak"; of --fail-on: "misuse"; of a rule: "rules".
    std::string budget;
    std::string rule;               // its name; empty: it is none
    std::string called;             // as a person reads it: "peak allocated"
    std::optional<Finding> finding; // whose rows are measured; none: a number of the process
    CheckUnit unit = CheckUnit::count;
    double limit = 0;
    double measured = 0;     // the highest of all processes; where some failed, of these
    std::size_t process = 0; // the process with the highest
    std::string step;        // of bytes_per_step: what a step of that process is; empty: not known
    CheckState state = CheckState::ok;
    std::vector<std::size_t> failed; // processes, ascending
    std::vector<Culprit> culprits;   // a few: the largest of each process, then the second
    std::size_t more_culprits = 0;   // that are not among these
    std::string remark;              // why the state is not known, though the process is whole

    Amount exact_limit() const { return amount_of(limit, unit); }
    Amount exact_measured() const { return amount_of(measured, unit); }
};
template <>
struct Fields<CheckRow> {
    static constexpr const char* kName = "budget";
    static constexpr const char* kSays = "One budget, held against each process by itself.";
    static constexpr FieldList kAll{
        Field{"budget", &CheckRow::budget,
              "The option without its dashes, or the word of --fail-on."},
        Field{"rule", OrNull{&CheckRow::rule}, "The name of a rule of --rules or --forbid."}.since(
            6),
        Field{"unit", &CheckRow::unit},
        Field{"limit", &CheckRow::exact_limit,
              "Whole, where the unit is bytes or count; so is measured."}
            .at_least(0),
        Field{"measured", &CheckRow::exact_measured,
              "The most of any process; where some failed, of these."}
            .at_least(0),
        Field{"state", &CheckRow::state, "unknown: not over the limit, as far as the logs show."},
        Field{"process", &CheckRow::process, "Index into processes: the one with the most."},
        Field{"step", OrNull{&CheckRow::step},
              "Of bytes_per_step: the range or mark that a step of that process is."}
            .since(6),
        Field{"failed_processes", &CheckRow::failed},
        Field{"culprits", &CheckRow::culprits,
              "A few that made up what was over the limit: the largest of each process, that with "
              "the most first, then the second largest; a place that several have is told once."},
        Field{"more_culprits", &CheckRow::more_culprits, "So many others are not listed."}.since(6),
    };
};

// A line of a budget that one test is over.
struct TestBreach {
    std::string budget; // "max-leaked", "max-peak": in bytes
    std::uint64_t limit = 0;
    std::uint64_t measured = 0;
    std::vector<Culprit> culprits; // a few, the largest first
};
template <>
struct Fields<TestBreach> {
    static constexpr const char* kName = "breach";
    static constexpr FieldList kAll{
        Field{"budget", &TestBreach::budget},
        Field{"limit", &TestBreach::limit, "In bytes, as measured."},
        Field{"measured", &TestBreach::measured},
        Field{"culprits", &TestBreach::culprits},
    };
};

// A test that is over its budget, or that began and did not end.
struct TestCheck {
    std::size_t process = 0;
    std::size_t test = 0; // index into Process::tests
    CheckState state = CheckState::unknown;
    std::vector<TestBreach> breaches;
};

struct Check {
    enum class Verdict { passed, failed, inconclusive, nothing_observed };

    Verdict verdict = Verdict::inconclusive;
    Exit exit = Exit::incomplete;
    std::vector<CheckRow> rows;      // in the order of the options
    std::vector<std::string> doubts; // one line each
    // Each test by itself, against the same budgets.
    std::uint64_t tests = 0;
    std::uint64_t failed_tests = 0;
    std::uint64_t unknown_tests = 0;
    std::vector<TestCheck> test_rows; // the worst first; not those that kept their budgets
};
template <>
struct Words<Check::Verdict> {
    static constexpr format::Word<Check::Verdict> kAll[] = {
        {Check::Verdict::passed, "passed"},
        {Check::Verdict::failed, "failed"},
        {Check::Verdict::inconclusive, "inconclusive"},
        {Check::Verdict::nothing_observed, "nothing-observed"},
    };
};

} // namespace vramscope::report
