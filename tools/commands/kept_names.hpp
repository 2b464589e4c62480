// tools/commands/kept_names.hpp — for commands that name call places: names that were found are
// kept for the next log of the same program, unless --no-cache is given.
#pragma once

#include <memory>

#include "report/symbols/name_store.hpp"

namespace CLI {
class App;
}

namespace vramscope {

void add_cache_option(CLI::App& command, bool& no_cache);
std::shared_ptr<report::NameStore> names_kept(bool no_cache); // null: they are not

} // namespace vramscope
