// tools/options/symbol_options.hpp — --sysroot and --path-map, wherever frames get their names.
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
};

void add_symbol_options(CLI::App& command, SymbolOptions& options);

// Throws Error (usage) for a sysroot that is no folder, and for what is not OLD=NEW.
report::SymbolizerOptions read_symbol_options(const SymbolOptions& options);

} // namespace vramscope
