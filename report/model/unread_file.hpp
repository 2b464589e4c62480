// report/model/unread_file.hpp — a module whose frames have no names, as its file is of no use.
#pragma once

#include <string>

namespace vramscope::report {

struct UnreadFile {
    std::string path;      // as the traced program saw it
    std::string why;       // "no such file"
    std::string looked_at; // what was found there, or where it was looked for if that is elsewhere
};

} // namespace vramscope::report
