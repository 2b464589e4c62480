// report/text/suppressions.hpp — what is known to leak, and by which rules, as text.
#pragma once

#include <string>
#include <string_view>

#include "report/text/output.hpp"

namespace vramscope::report {

// "17.7 MiB in 101 blocks, by 2 rules"; empty: nothing was suppressed.
std::string suppressed(const Report& report);
// "leak:load_labels (known.supp:3)"
std::string rule_in_words(const SuppressionRule& rule);
// A line for each rule, used or not; nothing, where there are none.
void write_suppressions(TextOutput& out, const Report& report);

} // namespace vramscope::report
