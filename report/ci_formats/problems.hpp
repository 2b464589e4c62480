// report/ci_formats/problems.hpp — what a check found, one row for each rule and call stack.
//
// What no line of the budget speaks of is a note. A stack that several processes share is one row.
// A test that is over its budget, or did not end, is a row of its own, in front of the stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/ci_formats/rules.hpp"
#include "report/ci_formats/source_paths.hpp"

namespace vramscope::report {

struct CallPlace;
struct Check;
struct Report;
struct TestCheck;

enum class Severity {
    note,    // within its budget, or without one
    warning, // the run does not show whether it is
    error,   // over its budget
};

struct Problem {
    const ProblemRule* rule = nullptr;
    Severity severity = Severity::note;
    const CallPlace* place = nullptr; // points into the report; null: of a process as a whole
    std::uint64_t bytes = 0;          // of all processes
    std::uint64_t count = 0;
    std::vector<std::size_t> processes;  // ascending
    std::string detail;                  // "on device 0, leaked-at-exit"
    std::string test;                    // its name, as the log has it; empty: not of one test
    const TestCheck* test_row = nullptr; // of a test: points into the check
    std::string message;                 // one line without control characters
    std::vector<std::string> reach;      // of a leak: what holds it, as such lines; the lost first
    std::string fingerprint;             // no other row has it; the same in every run
    SourcePlace where;
};

// Errors first; in the order of the report otherwise.
std::vector<Problem> find_problems(const Check& check, const Report& report,
                                   const SourcePaths& paths);

// Why the logs do not show all, one line each without control characters; none: they do.
std::vector<std::string> doubts_of(const Check& check);

const char* name(Severity severity) noexcept; // "error", as SARIF and GitHub call it

} // namespace vramscope::report
