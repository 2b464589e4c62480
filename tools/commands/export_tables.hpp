// tools/commands/export_tables.hpp — processes as tables: a database, or a folder of CSV files.
#pragma once

#include <string>
#include <vector>

#include "tools/options/symbol_options.hpp"

namespace vramscope {

struct TablesOptions {
    std::vector<std::string> files; // logs, reduced tables, folders of them
    std::string output;
    bool force = false;
    bool events = false; // also a row for each block
    SymbolOptions symbols;
};

int export_sqlite(const TablesOptions& options);
int export_csv_tables(const TablesOptions& options);

} // namespace vramscope
