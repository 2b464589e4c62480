// report/judge/comparison.hpp — two reports of one program, before a change and after it.
//
// Call stacks are the same where their fingerprints are: addresses, build folders and lines further
// up may differ. All processes of a report are taken together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/model/comparison.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

// `tolerance`: by what part of the older number a peak or a count of calls may be larger; 16 more
// calls are always allowed. A leak that is new, or has more bytes, is always a regression.
Comparison compare(const Report& base, const Report& now, double tolerance);

} // namespace vramscope::report
