// tools/process/traced_environment.hpp — the environment that a traced program is started in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/process/installation.hpp"

namespace vramscope {

struct TracedEnvironment {
    const Installation& installation; // without a preload: the program runs untraced
    bool audit;                       // true: set LD_AUDIT too
    bool inside;                      // true: switch off allocators of frameworks
    std::string simulate;             // "24GiB"; empty: whatever driver there is
    std::string log;                  // the pattern of its name
    std::string run_file;             // what VRAMSCOPE_RUN says
    std::string ending;               // the socket for the end of its work; empty: it does not tell
    std::vector<std::pair<std::string, std::string>> settings; // variables and their values
};

// Sets the variables of this process; the child calls it before exec.
void enter(const TracedEnvironment& environment);

} // namespace vramscope
