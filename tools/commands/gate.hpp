// tools/commands/gate.hpp — the commands that stand between a run and a merge: suppress, check,
// diff.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace vramscope {

struct GateCommand {
    CLI::App* parsed;
    std::function<int()> run; // its exit status
};

// Each adds itself to the command line, and was called if its `parsed` was.
GateCommand add_suppress(CLI::App& app);
GateCommand add_check(CLI::App& app);
GateCommand add_diff(CLI::App& app);

} // namespace vramscope
