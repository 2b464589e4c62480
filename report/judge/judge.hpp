// report/judge/judge.hpp — what a report proves.
#pragma once

#include <string>
#include <vector>

#include "report/model/check.hpp"
#include "report/model/comparison.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

// Why a process's log does not prove what it shows: one line each, empty for a process whose list
// of leaks is the whole truth. Whether any memory call was seen is judged over all processes
// together, not here.
std::vector<std::string> reasons_for_doubt(const Process& process);

// The process ended with another status than 0, perhaps before it came to where it would have
// leaked.
bool has_failed(const Process& process);

// Report::reasons, and what else leaves open whether the program is as good as its logs: a process
// that failed.
std::vector<std::string> doubts_of_run(const Report& report);

// What was found, a sentence for each kind, what hurts most first; one at least. It looks at the
// verdict.
std::vector<Headline> headlines_of(const Report& report);

// The processes of one job side by side. Rank, local rank, the sizes of world and node and the
// launcher come from the log's info records of these names; a process without them is one all the
// same. Leaks of several processes are one when they differ in nothing but process, device and
// sums.
Ranks compare_ranks(const Report& report);

// That a rank has no log: it may have died before its first CUDA call. Empty: each has one, or the
// logs are of one rank alone, with the processes that it started: then it alone is meant. It looks
// at Report::ranks.
std::string doubt_of_ranks(const Report& report);

// A report against a budget: what a build may fail on. Each process is judged by itself, and the
// worst decides. What was measured over its budget has failed, also in a log that does not prove
// anything else; what is within it in a process of which events are missing, or that did not come
// to its own end, is not known to be.
Check check(const Report& report, const Budget& budget);

// Each test against the budgets of leaks and peaks. A test that ended is judged by what it did,
// however the process ended later; but what it held when the process crashed may be no leak.
void check_tests(Check& check, const Report& report, const Budget& budget);

// Two reports of one program, before a change and after it. Call stacks are the same where their
// fingerprints are: addresses, build folders and lines further up may differ. All processes of a
// report are taken together. `tolerance`: by what part of the older number a peak or a count of
// calls may be larger; 16 more calls are always allowed. A leak that is new, or has more bytes, is
// always a regression.
Comparison compare(const Report& base, const Report& now, double tolerance);

// Where the same functions call from as many lines in either report, and not from the same ones,
// those of the newer one get the fingerprints of the base's, in the order of their lines: something
// was added above them, or one of the two was built without lines. Before compare().
void follow_moved_lines(const Report& base, Report& now);

// What else was found, by kind and call stack; part of compare(). What grows is worse where it is
// new or faster by more than the tolerance, all else where it is new or more often.
void compare_findings(Comparison& comparison, const Report& base, const Report& now,
                      double tolerance);

// What is told and judges nothing; parts of compare() too.
void compare_reach(Comparison& comparison, const Report& base, const Report& now);
void compare_objects(Comparison& comparison, const Report& base, const Report& now);
void compare_owners(Comparison& comparison, const Report& base, const Report& now);

} // namespace vramscope::report
