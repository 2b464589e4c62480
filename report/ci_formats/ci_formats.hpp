// report/ci_formats/ci_formats.hpp — a check in the formats in which teams look at findings.
//
// All of them show the same problems, with paths below the root of the repository. What a log does
// not show is in each of them too, so that an empty list is never mistaken for a clean run.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "report/ci_formats/problems.hpp"

namespace vramscope::report {

struct Check;
struct Report;

// What all formats show.
struct CheckedRun {
    const Check& check;
    const Report& report;
    const SourcePaths& paths;
    const std::vector<Problem>& problems;
    std::string version; // of vramscope
};

// SARIF 2.1.0: a result with its call stack as a code flow for each problem.
void write_sarif(std::ostream& out, const CheckedRun& checked);

// JUnit's XML: a case for each budget, and one that fails for each stack over it, and for each
// test, with its fingerprint and sums as properties.
void write_junit(std::ostream& out, const CheckedRun& checked);

// GitLab's code quality: a list of issues.
void write_gitlab(std::ostream& out, const CheckedRun& checked);

// Workflow commands of GitHub Actions, a line each. GitHub shows ten of a kind for each step, so
// the tenth says how many more there are.
void write_github_annotations(std::ostream& out, const CheckedRun& checked);

// For the page of the job, in Markdown; far less than the megabyte that GitHub takes.
void write_github_summary(std::ostream& out, const CheckedRun& checked);

} // namespace vramscope::report
