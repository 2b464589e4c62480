// report/model/check.hpp — a budget, and a report held against it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/error.hpp"
#include "report/model/call_place.hpp"

namespace vramscope::report {

// What fails by being there at all; judge/finding_kinds.cpp has a row for each, in this order.
enum class Finding : std::uint8_t {
    leaks,
    unclosed_imports,
    growth,
    out_of_memory,
    misuse,
    damage,
    failed_calls,
};
inline constexpr std::size_t kFindings = 7;

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
    std::optional<std::array<bool, kFindings>> fail_on; // not given: what fails by default
    bool allow_inconclusive = false;
};

enum class CheckState { ok, failed, unknown };
enum class CheckUnit { bytes, bytes_per_step, bytes_per_call, bytes_per_second, percent, count };

// The call stacks that made up most of what was measured.
struct Culprit {
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;          // how many blocks, calls or times
    const CallPlace* place = nullptr; // points into the report
    std::uint64_t least_bytes = 0;    // the smallest of the tries, where calls failed
    std::uint64_t most_bytes = 0;
};

// One line of a budget, over all processes.
struct CheckRow {
    std::string budget;             // as the option is called: "max-peak"; of --fail-on: "misuse"
    std::string called;             // as a person reads it: "peak allocated"
    std::optional<Finding> finding; // whose rows are measured; none: a number of the process
    CheckUnit unit = CheckUnit::count;
    double limit = 0;
    double measured = 0;     // the highest of all processes
    std::size_t process = 0; // the process with the highest
    CheckState state = CheckState::ok;
    std::vector<std::size_t> failed; // processes, ascending
    std::vector<Culprit> culprits;   // of `process`; a few, the largest first
    std::string remark;              // why the state is not known, though the process is whole
};

// A line of a budget that one test is over.
struct TestBreach {
    std::string budget; // "max-leaked", "max-peak": in bytes
    std::uint64_t limit = 0;
    std::uint64_t measured = 0;
    std::vector<Culprit> culprits; // a few, the largest first
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

// The words of the JSON.
const char* name(CheckState state) noexcept;
const char* name(CheckUnit unit) noexcept;
const char* name(Check::Verdict verdict) noexcept;

} // namespace vramscope::report
