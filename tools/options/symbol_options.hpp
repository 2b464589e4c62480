// tools/options/symbol_options.hpp — --sysroot, --path-map and --debuginfod, wherever frames get their names.
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

// Throws Error (usage) for a sysroot that is no folder, for what is not OLD=NEW, and where
// debuginfod cannot be asked.
report::SymbolizerOptions read_symbol_options(const SymbolOptions& options);

} // namespace vramscope
