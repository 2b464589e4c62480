// tools/options/settings.hpp — settings of the traced process on the command line.
//
// They are taken and printed from the same table that the process reads them by.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace vramscope {

std::string settings_help();

// What --set takes, up to the value: "stack_depth=".
std::vector<std::string> settings_to_choose();

// Environment variables and their values, as --set and --pool (unless empty) ask for them. Throws
// report::Error (usage) on a name that no setting has and on a value that is not valid.
std::vector<std::pair<std::string, std::string>>
chosen_settings(const std::vector<std::string>& settings, const std::string& pool);

} // namespace vramscope
