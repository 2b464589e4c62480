// tools/process/diagnosis.hpp — why nothing was, or would be, seen: what can be told from outside.
#pragma once

#include <string>
#include <vector>

#include "tools/process/driver_probe.hpp"
#include "tools/process/installation.hpp"
#include "tools/process/program_file.hpp"

namespace vramscope {

// The versions of CUDA, "12", whose programs have a runtime to run with on the simulated GPU, and
// those that have none.
struct SimulatedRuntimes {
    std::vector<std::string> there;
    std::vector<std::string> missing;
};
SimulatedRuntimes simulated_runtimes(const Installation& installation);

// Reasons that lie in the GPU the program would meet: no driver, or a runtime that refuses the
// simulated one. `driver` is looked at only where nothing is simulated.
std::vector<std::string> gpu_obstacles(const ProgramFile& program, const std::string& simulate,
                                       const Installation& installation, const DriverFacts& driver);

// The driver of a run. A simulated one is not asked anything.
DriverFacts find_driver(const std::string& simulate, Ask ask);

// After a run in which no allocation was seen. `loaded`: our library came up in some process.
std::vector<std::string> why_nothing_was_seen(const ProgramFile& program,
                                              const std::string& simulate,
                                              const Installation& installation,
                                              const DriverFacts& driver, bool loaded);

} // namespace vramscope
