// report/text/views.hpp — the printers, one for each view.
//
// Text leads with the verdict and is safe for a terminal: control characters that come from logs or
// binaries are escaped. report/json has them for programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>

namespace vramscope::report {

struct CallPlace;
struct Check;
struct Comparison;
struct Job;
struct Plan;
struct Reach;
struct Report;

enum class RowOrder { as_found, bytes, growth, count, time };

// Of the rows that call stacks have in lists of memory: what was not freed, grows, was held, made
// up a peak or was allocated again and again. See rows.hpp.
struct RowChoice {
    std::optional<std::size_t> most; // of each list; empty: as many as are usual there
    std::uint64_t least_bytes = 0;
    std::function<bool(const CallPlace&)> matches{}; // empty: all do
    RowOrder order = RowOrder::as_found;
};

// Of call stacks in which a function or its place, as they are shown, matches. std::regex_error.
std::function<bool(const CallPlace&)> matching(const std::string& expression);

struct TextStyle {
    bool color = false;       // the caller looks at the terminal and at NO_COLOR
    bool half_blocks = false; // charts of these: it can show them
    std::size_t width = 100;
    RowChoice rows = {};
    bool logs_stay = true; // else a summary does not name them
};

// Everything.
void write_report(std::ostream& out, const Report& report, const TextStyle& style = {});
// The verdict and the leaks.
void write_leaks(std::ostream& out, const Report& report, const TextStyle& style = {});
// How each device's memory was made up.
void write_fragmentation(std::ostream& out, const Report& report, const TextStyle& style = {});
// What each device's peak was made of.
void write_peak(std::ostream& out, const Report& report, const TextStyle& style = {});
// A chart of each device.
void write_timeline(std::ostream& out, const Report& report, const TextStyle& style = {});
// What allocating costs, and where.
void write_churn(std::ostream& out, const Report& report, const TextStyle& style = {});
// Each context: who opened it, and what was done in it.
void write_contexts(std::ostream& out, const Report& report, const TextStyle& style = {});
// Objects of the driver's: how many were made, ended and left, by call stack.
void write_objects(std::ostream& out, const Report& report, const TextStyle& style = {});
// What a running program holds now.
void write_snapshot(std::ostream& out, const Report& report, const TextStyle& style = {});
// The end of what `vramscope run` prints.
void write_summary(std::ostream& out, const Report& report, const TextStyle& style = {});
// A report against its budget, for the log of a CI job: the verdict, a line for each budget, what
// is over it, and the next command.
void write_check(std::ostream& out, const Check& check, const Report& report,
                 const TextStyle& style = {});
// Ends `vramscope run --check`: the verdict is the last line.
void write_check_summary(std::ostream& out, const Check& check, const Report& report,
                         const TextStyle& style = {});
// Two reports side by side: the verdict, the numbers, and which call stacks leak more or less.
void write_comparison(std::ostream& out, const Comparison& comparison, const Report& now,
                      const TextStyle& style = {});
// What holds the blocks that are alive, and which nothing holds.
void write_reach(std::ostream& out, const Reach& reach, const TextStyle& style = {});
// What allocators would need for what the logs asked of theirs: the answer first.
void write_plan(std::ostream& out, const Plan& plan, const TextStyle& style = {});
// The ranks of a job: those that are missing or crashed, then a line for each finding, of which
// some are left out unless `all` are wanted.
void write_job(std::ostream& out, const Job& job, const TextStyle& style, bool all);

} // namespace vramscope::report
