// report/words/shares.hpp — parts of a whole in per cent, such that what is shown adds up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report {

std::string percent(double fraction); // "62.4 %"

// One for each part, to a tenth of a per cent; together they are 100.0 %, unless all parts are 0.
std::vector<std::string> shares(const std::vector<std::uint64_t>& parts);

} // namespace vramscope::report
