// report/model/unread_file.hpp — a module whose frames have no names, as its file is of no use.
#pragma once

#include <string>
#include <vector>

namespace vramscope::report {

struct UnreadFile {
    std::string path;      // as the traced program saw it
    std::string why;       // "no such file"
    std::string looked_at; // what was found there, or where it was looked for if that is elsewhere
};

// What a reader should know, one line each, and then a line for each such file.
struct Notices {
    const std::vector<std::string>* lines;
    const std::vector<UnreadFile>* files;
};

} // namespace vramscope::report
