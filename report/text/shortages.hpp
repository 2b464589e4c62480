// report/text/shortages.hpp — allocations that failed for want of memory, as text.
#pragma once

#include <string>
#include <string_view>

#include "report/model/shortages.hpp"
#include "report/text/output.hpp"

namespace vramscope::report {

// "short by 2.1 GiB": why the memory was not enough, in one line.
std::string describe(const OutOfMemory& shortage);

// Nothing, where memory was never short.
void write_out_of_memory(TextOutput& out, const Report& report);
void write_out_of_memory_summary(TextOutput& out, const Report& report, std::string_view prefix);

} // namespace vramscope::report
