// report/text/misuse.hpp — what the driver refused, memory that was damaged, and owners that
// were left, as text.
#pragma once

#include <string_view>

#include "report/text/output.hpp"

namespace vramscope::report {

// Nothing, where there was no misuse.
void write_misuse(TextOutput& out, const Report& report);
void write_misuse_summary(TextOutput& out, const Report& report, std::string_view prefix);
// Memory that was written while it was free, or beyond a block: nothing, where none was seen.
void write_damage(TextOutput& out, const Report& report);
void write_damage_summary(TextOutput& out, const Report& report, std::string_view prefix);
// Owners that were never destroyed, and calls that the driver refused: a line each.
void write_owners_and_refusals(TextOutput& out, const Report& report);

} // namespace vramscope::report
