// tools/messages.hpp — what the command says about its own work: one line each, on stderr.
//
// Control characters, which may come from names in logs or on the command line, are escaped on the
// way. Results of report and leaks go to stdout, through the report library, and not through here.
#pragma once

#include <string>
#include <string_view>

namespace vramscope {

void say(const std::string& line);  // "vramscope: line"
void warn(const std::string& line); // "vramscope: warning: line"
void fail(const std::string& line); // "vramscope: error: line"

// Text from the world outside, made safe for a terminal: control characters as \x1b, one line.
std::string printable(std::string_view text);

// A terminal that knows the usual escape sequences.
bool can_draw(int descriptor);

// A terminal that shows colours, and a user who did not set NO_COLOR.
bool wants_color(int descriptor);

} // namespace vramscope
