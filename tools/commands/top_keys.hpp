// tools/commands/top_keys.hpp — what the keys of `top` do to what is shown.
#pragma once

#include <vector>

#include "report/text/live_screen.hpp"

namespace vramscope {

// `key`: as output/screen.hpp has it. Returns false where it says that the reader is done.
// `programs` are those that are on the screen, and not empty.
bool take_key(int key, const std::vector<report::LiveProgram>& programs, report::LiveView& view);

} // namespace vramscope
