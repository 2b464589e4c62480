// tools/options/output_options.hpp — --json and --force of every command that writes a report.
//
// Both mean the same everywhere, and so does what a report may not be written over.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/options/suppression_options.hpp"
#include "tools/output/output_file.hpp"

namespace vramscope {

inline constexpr const char* kForceHelp = "overwrite a file that vramscope did not write";

// `what` is written: "the report".
void add_json_options(CLI::App& command, std::string& json, bool& force, const std::string& what,
                      const std::string& force_help = kForceHelp);

// Every file that a command reads; an empty name is none.
std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::string& budget = {});

} // namespace vramscope
