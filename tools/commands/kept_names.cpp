// tools/commands/kept_names.cpp — see kept_names.hpp.
#include "tools/commands/kept_names.hpp"

#include <CLI/CLI.hpp>

#include "tools/options/symbol_options.hpp"
#include "tools/process/live/name_cache.hpp"

namespace vramscope {

void add_cache_option(CLI::App& command, bool& no_cache)
{
    command
        .add_flag("--no-cache", no_cache,
                  "names are read from the program's files, not from the cache in the user's home, "
                  "and none are kept there")
        ->group(kNamesGroup);
}

std::shared_ptr<report::NameStore> names_kept(bool no_cache)
{
    return no_cache ? nullptr : std::make_shared<NameCache>();
}

} // namespace vramscope
