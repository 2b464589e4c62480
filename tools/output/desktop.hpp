// tools/output/desktop.hpp — programs of the user's own that show what we made: pager and browser.
#pragma once

#include <string>

namespace vramscope {

// From now on show() prints everything itself.
void use_no_pager();

// Text on stdout: in a pager if that is a terminal, as git does it: VRAMSCOPE_PAGER, PAGER, less;
// an empty name or cat is none. Error (125) if it cannot be written.
void show(const std::string& text);

// Error (125) if anything that was printed to stdout could not be written.
void finish_stdout();

// By xdg-open, which is not waited for; a line on stderr where there is none.
void open_in_browser(const std::string& file);

} // namespace vramscope
