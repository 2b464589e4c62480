// report/exporters/reduced.hpp — the reduced table of a report: what a join of many ranks needs.
//
// JSON lines. The first says what it is and its version; of each process one line of its own facts,
// one for each device, its timeline and its sites. Sites have columns, so that a table of a
// thousand of them is no larger than it must be; their call stacks are paths in a tree of frames,
// whose texts are numbers in a list of texts. The last line counts the others, so that a table that
// was cut is not taken for a whole one. `vramscope schema reduced` has all of it.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>

namespace vramscope::report {

struct Report;

inline constexpr int kReducedVersion = 2;

// Lines of each type, but for the first and the last line of the table.
using ReducedCounts = std::map<std::string, std::uint64_t, std::less<>>;

// A whole table. `report` is of one log, made with Options::all_sites.
void write_reduced(std::ostream& out, const Report& report);
// What is around the lines of several processes.
void begin_reduced(std::ostream& out);
void end_reduced(std::ostream& out, const ReducedCounts& lines);
std::string reduced_schema();

} // namespace vramscope::report
