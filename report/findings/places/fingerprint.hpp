// report/findings/places/fingerprint.hpp — the name of a call place that is the same in every run.
//
// It knows nothing of addresses, paths, devices or processes, and of lines only how far into its
// function the innermost visible call is: a change elsewhere in the file, in a caller or in the
// build's folder keeps it. Two calls of one function from two lines of a caller have the same.
// What it hashes is written into baselines and must not change; README.md of report has it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/model/call_place.hpp"

namespace vramscope::report {

// 16 hexadecimal digits. `api`: as the user called it; `visible`: innermost first.
std::string fingerprint(std::string_view api, std::span<const Frame* const> visible);

} // namespace vramscope::report
