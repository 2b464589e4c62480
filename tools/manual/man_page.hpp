// tools/manual/man_page.hpp — a command's manual page, as man(7) wants it.
#pragma once

#include <string>
#include <vector>

#include "tools/manual/rows.hpp"

namespace vramscope::manual {

// Of the command `name`; empty: of vramscope itself, which lists the others. std::out_of_range if
// there is none of this name.
std::string man_page(const std::vector<CommandRow>& rows, const std::string& name,
                     const std::string& version);

} // namespace vramscope::manual
