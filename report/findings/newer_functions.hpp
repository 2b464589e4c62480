// report/findings/newer_functions.hpp — functions of memory that the tracer did not know.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vramscope::report {

// Names from a log's info records, sorted, each once; with @version where cuGetProcAddress was
// asked for them.
std::vector<std::string>
newer_functions(const std::vector<std::pair<std::string, std::string>>& info);

// What it means, in a line; empty if there are none. `more`: there were others, which the tracer
// had no room for.
std::string newer_functions_notice(const std::vector<std::string>& names, bool more);

} // namespace vramscope::report
