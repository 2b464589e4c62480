// tools/options/output_options.cpp — see output_options.hpp.
#include "tools/options/output_options.hpp"

#include <CLI/CLI.hpp>

namespace vramscope {

void add_json_options(CLI::App& command, std::string& json, bool& force, const std::string& what,
                      const std::string& force_help)
{
    command.add_option("--json", json, "write " + what + " for machines; - is stdout")
        ->option_text("FILE");
    command.add_flag("-f,--force", force, force_help);
}

std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::string& budget)
{
    std::vector<std::filesystem::path> files = suppression_files(suppressions);
    files.insert(files.end(), logs.begin(), logs.end());
    if (!budget.empty())
        files.emplace_back(budget);
    return files;
}

} // namespace vramscope
