// tools/manual/completions.hpp — scripts by which shells complete commands, options and values.
//
// Each is whole and needs no other file. What follows PROGRAM is completed as its own command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/manual/rows.hpp"

namespace vramscope::manual {

std::string bash_completion(const std::vector<CommandRow>& rows);
std::string zsh_completion(const std::vector<CommandRow>& rows);
std::string fish_completion(const std::vector<CommandRow>& rows);

// With every `from` in `text` replaced by `to`.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

// As one word of any of these shells, whatever is in it.
std::string as_word(std::string_view text);

} // namespace vramscope::manual
