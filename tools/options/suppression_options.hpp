// tools/options/suppression_options.hpp — --suppressions and --no-builtin-suppressions.
//
// They mean the same wherever leaks are told.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/findings/places/suppressions.hpp"

namespace CLI {
class App;
}

namespace vramscope {

struct SuppressionOptions {
    std::vector<std::string> files; // in addition to those that VRAMSCOPE_SUPPRESSIONS names
    bool built_in = true;
};

void add_suppression_options(CLI::App& command, SuppressionOptions& options);

// The files that VRAMSCOPE_SUPPRESSIONS names, those of the project, then those of the options.
std::vector<std::filesystem::path> suppression_files(const SuppressionOptions& options);

// Throws Error (usage) for a file that cannot be read or is not one of suppressions.
report::Suppressions read_suppressions(const SuppressionOptions& options);

} // namespace vramscope
