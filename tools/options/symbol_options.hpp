// tools/options/symbol_options.hpp — where frames get their names from.
#pragma once

#include <string>
#include <vector>

#include "report/symbols/symbolizer.hpp"

namespace CLI {
class App;
}

namespace vramscope {

// In --help-all.
inline constexpr const char* kNamesGroup = "Names of frames";

struct SymbolOptions {
    std::string sysroot;            // empty: none
    std::vector<std::string> paths; // OLD=NEW
    bool debuginfod = false;        // ask the servers of DEBUGINFOD_URLS
    std::vector<std::string> fold;  // regular expressions
};

void add_symbol_options(CLI::App& command, SymbolOptions& options);
// Of commands that name rows by one frame.
void add_fold_option(CLI::App& command, SymbolOptions& options);
void add_all_frames_option(CLI::App& command, bool& all_frames);

// Throws Error (usage) if the sysroot is not a folder, if a path map is not OLD=NEW, if debuginfod
// cannot be asked, and if what is to be folded is no regular expression.
report::SymbolizerOptions read_symbol_options(const SymbolOptions& options);

} // namespace vramscope
