// tools/options/source_options.hpp — --source-url and --source: what a page tells of the sources.
#pragma once

#include <filesystem>
#include <string>

#include "report/page/page.hpp"
#include "report/symbols/symbolizer.hpp"

namespace CLI {
class App;
}

namespace vramscope {

struct SourceOptions {
    std::string url;    // of a line; empty: what .vramscope says
    bool lines = false; // the lines around each shown one are put into the page
};

void add_source_options(CLI::App& command, SourceOptions& options);

// The folder with a .git in it (a file, in worktrees) that the working directory is in; else that
// directory itself.
std::filesystem::path repository();

// Throws Error (usage) for a URL that a page must not have, or that names no file. `root`: what
// {file} is below; empty: the repository.
report::PageSources read_source_options(const SourceOptions& options,
                                        const report::SymbolizerOptions& symbols,
                                        const std::string& root = {});

} // namespace vramscope
