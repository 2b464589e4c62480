// tools/options/output_options.hpp — --json, --html and --force of the commands that report.
//
// They mean the same everywhere, and so does what a report may not be written over.
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

void add_html_option(CLI::App& command, std::string& html);

// Where the page goes: not over what is taken, nor where the JSON goes. Error (125) if one is
// wanted and this vramscope was built without pages.
Output page_output(const std::string& html, std::vector<std::filesystem::path> taken,
                   const std::string& json, bool force);

// Every file that a command reads; an empty name is none.
std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::string& budget = {});

} // namespace vramscope
