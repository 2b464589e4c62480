// tools/commands/job_files.hpp — what the commands about jobs are given: reduced tables and logs.
#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "report/findings/make_report.hpp"
#include "report/symbols/name_store.hpp"

namespace CLI {
class App;
}

namespace vramscope {

// Of commands that read many logs of one program: names that were found are kept for the next one,
// unless --no-cache is given.
void add_cache_option(CLI::App& command, bool& no_cache);
std::shared_ptr<report::NameStore> names_kept(bool no_cache); // null: they are not

// Files as they are. A folder stands for the reduced tables in it, or else for its logs.
std::vector<std::filesystem::path> find_job_files(const std::vector<std::string>& arguments);

// Shows a reduced table as it is, and a log as the table of it. `of_log` has the report; null: it
// was a table. Error for what is neither.
void read_job_file(const std::filesystem::path& file, const report::Options& reading,
                   const std::function<void(std::istream&, const report::Report* of_log)>& show);

} // namespace vramscope
