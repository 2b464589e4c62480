// tools/commands/run_tables.hpp — the reduced tables that `run --reduced DIR` leaves.
#pragma once

#include <filesystem>
#include <vector>

#include "report/findings/make_report.hpp"
#include "report/model/report.hpp"

namespace vramscope {

// One of each log, named as the log and said. A table of another process is never replaced: ranks
// may share the name of their logs, each in a folder of its own. Where several logs were read,
// `report` is of all of them. Error if one cannot be written.
void write_tables(const std::filesystem::path& folder,
                  const std::vector<std::filesystem::path>& logs, const report::Report& report,
                  const report::Options& reading, bool force);

} // namespace vramscope
