// tools/options/symbol_options.hpp — where frames get their names from.
#pragma once

#include <string>
#include <vector>

#include "report/symbols/symbolizer.hpp"

namespace CLI {
class App;
}

namespace vramscope {

struct SymbolOptions {
    std::string sysroot;            // empty: none
    std::vector<std::string> paths; // OLD=NEW
    bool debuginfod = false;        // ask the servers of DEBUGINFOD_URLS
};

void add_symbol_options(CLI::App& command, SymbolOptions& options);

// Throws Error (usage) if the sysroot is not a folder, if a path map is not OLD=NEW, and if
// debuginfod cannot be asked.
report::SymbolizerOptions read_symbol_options(const SymbolOptions& options);

} // namespace vramscope
