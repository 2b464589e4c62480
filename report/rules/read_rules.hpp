// report/rules/read_rules.hpp — rules out of a file or an option.
#pragma once

#include <filesystem>
#include <string_view>

#include "report/rules/rule.hpp"

namespace vramscope::report {

// Both throw Error (usage), one line with the place: "rules.txt:3:9: there is no event 'aloc': …".
void add_rules_file(Rules& rules, const std::filesystem::path& path);
// The same file, of which owners alone are wanted.
void add_owners_file(Rules& rules, const std::filesystem::path& path);
// What follows `forbid` in a rule, whose name is its words: "forbid alloc in capture". Given twice,
// it is one rule.
void add_forbidden(Rules& rules, std::string_view text);

} // namespace vramscope::report
