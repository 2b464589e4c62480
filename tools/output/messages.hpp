// tools/output/messages.hpp — what the command says about its own work: one line each, on stderr.
//
// Each line goes through report::terminal_safe on the way: it may hold names from logs and from
// the command line. Results of report and leaks go to stdout, through the report library, and
// not through here.
#pragma once

#include <cstddef>
#include <string>

namespace vramscope {

// From now on detail() is shown: what is read and written, and from where.
void be_verbose();

void detail(const std::string& line); // "vramscope: 0.351 s: line", since the command began
void say(const std::string& line);    // "vramscope: line"
void warn(const std::string& line);   // "vramscope: warning: line"
void fail(const std::string& line);   // "vramscope: error: line"

// True for a terminal that knows the usual escape sequences.
bool can_draw(int descriptor);

// How wide its lines are: by COLUMNS, then by the terminal itself. 0: not known, or too narrow.
std::size_t terminal_columns(int descriptor);

// True for a terminal whose locale has UTF-8.
bool can_show_blocks(int descriptor);

enum class Color { automatic, always, never };
void use_color(Color color);

// By use_color(); else true for a terminal that shows colours, unless the user set NO_COLOR.
bool wants_color(int descriptor);

} // namespace vramscope
