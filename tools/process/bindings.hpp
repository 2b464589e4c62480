// tools/process/bindings.hpp — what the tracer got hold of in a process beside the driver.
//
// That is its Python, whose functions are then in call stacks, and allocators of frameworks.
#pragma once

#include <string>
#include <vector>

#include "report/model/report.hpp"

namespace vramscope {

struct Binding {
    bool bound;
    std::string line; // "Python 3.11.7: its functions are in call stacks"
};

// Allocators that were bypassed are not among them: the report's notices name these.
std::vector<Binding> bindings_of(const report::Process& process);

} // namespace vramscope
