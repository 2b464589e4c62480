// tools/commands/job_files.hpp — what the commands about jobs are given: reduced tables and logs.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "report/findings/make_report.hpp"
#include "tools/options/suppression_options.hpp"

namespace vramscope {

// Files as they are, each once. A folder stands for the reduced tables in it, and for those of its
// logs that none of them is of; what else ends in .jsonl there is said and left out. Error if a
// folder holds neither.
std::vector<std::filesystem::path> find_job_files(const std::vector<std::string>& arguments);

// Shows a reduced table as it is, and a log as the table of it. `of_log` has the report; null: it
// was a table. Error for what is neither, and for what is no regular file.
void read_job_file(const std::filesystem::path& file, const report::Options& reading,
                   const std::function<void(std::istream&, const report::Report* of_log)>& show);

// Error (usage) where the options have rules for leaks and one of the files is a reduced table:
// what leaked was summed up when it was made.
void refuse_rules_for_tables(const std::vector<std::filesystem::path>& files,
                             const SuppressionOptions& options);

} // namespace vramscope
