// tools/watch/watch_options.hpp — --metrics, --on and --interval: numbers while programs run.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/symbols/symbolizer.hpp"
#include "tools/output/output_file.hpp"
#include "tools/watch/watch_events.hpp"

namespace CLI {
class App;
}

namespace vramscope {

struct WatchOptions {
    std::string metrics;                                 // empty: none are wanted
    std::vector<std::pair<std::string, std::string>> on; // events, and a command for each
    std::optional<double> interval;                      // seconds

    bool wanted() const { return !metrics.empty() || !on.empty(); }
};

struct WatchPlan {
    struct Command {
        WatchRule rule;
        std::string command;
    };
    Output metrics;
    std::vector<Command> commands;
    report::SymbolizerOptions symbols;
    std::chrono::milliseconds interval;
};

extern const char* const kWatchHelp; // for the end of a command's --help

void add_watch_options(CLI::App& command, WatchOptions& options);

// Error (125) for an event or a time that is none, for a file that cannot be replaced again and
// again, for a command that cannot be run. `program`: for the name of the file of metrics, which
// has the parts that names of logs have.
WatchPlan read_watch_options(const WatchOptions& options, const std::string& program,
                             const std::vector<std::filesystem::path>& taken, bool force,
                             const report::SymbolizerOptions& symbols);

} // namespace vramscope
