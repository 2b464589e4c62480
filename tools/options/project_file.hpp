// tools/options/project_file.hpp — .vramscope: what a project's readers need not type.
//
// In the folder that a command is started in. A line each: `fold REGEX`, `suppressions FILE`,
// `path-map OLD=NEW` and `source-url URL`, as the options of these names; blank lines, and those
// that begin with `#`. A file that is not the user's own, or that others may write, is not read,
// which is said.
#pragma once

#include <string>
#include <vector>

namespace vramscope {

struct ProjectFile {
    std::vector<std::string> fold;
    std::vector<std::string> suppressions;
    std::vector<std::string> paths;      // OLD=NEW
    std::vector<std::string> source_url; // the last one counts
};

// It is read once. Empty where there is none. Throws Error (usage) for a line that is none of
// these.
const ProjectFile& project_file();

} // namespace vramscope
