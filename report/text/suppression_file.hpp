// report/text/suppression_file.hpp — rules for what a report lists as leaked.
#pragma once

#include <ostream>
#include <string>

#include "report/model/report.hpp"

namespace vramscope::report {

// The pattern that matches a leak by the innermost function of the program's own, else by its
// module; empty: there is nothing to name it by.
std::string suppression_pattern(const Leak& leak);

// In LeakSanitizer's grammar. Each rule under the leaks that it is for, as comments.
void write_suppression_file(std::ostream& out, const Report& report);

} // namespace vramscope::report
