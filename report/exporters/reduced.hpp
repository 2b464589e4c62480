// report/exporters/reduced.hpp — the reduced table of a report: what a join of many ranks needs.
//
// JSON lines. The first says what it is and its version; of each process one line of its own facts,
// one for each device, its timeline and its sites. Sites have columns, so that a table of a
// thousand of them is no larger than it must be; their call stacks are paths in a tree of frames,
// whose texts are numbers in a list of texts. `vramscope schema reduced` has all of it.
#pragma once

#include <iosfwd>
#include <string>

namespace vramscope::report {

struct Report;

inline constexpr int kReducedVersion = 2;

// The first line; then each process. `report` is of one log, made with Options::all_sites.
void begin_reduced(std::ostream& out);
void write_reduced(std::ostream& out, const Report& report);
std::string reduced_schema();

} // namespace vramscope::report
