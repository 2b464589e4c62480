// tools/manual/man_page.hpp — a command's manual page, as man(7) wants it.
#pragma once

#include <string>
#include <vector>

#include "tools/manual/rows.hpp"

namespace vramscope::manual {

// The page of the command `name`; where it is empty, that of vramscope itself, which lists the
// others. std::out_of_range: there is no such command.
std::string man_page(const std::vector<CommandRow>& rows, const std::string& name,
                     const std::string& version);

} // namespace vramscope::manual
