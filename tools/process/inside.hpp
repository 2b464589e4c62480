// tools/process/inside.hpp — `run --inside`: allocators of frameworks are switched off.
//
// Each of their buffers is then an allocation of the driver. What the user has set stays.
#pragma once

#include <string>
#include <vector>

namespace vramscope {

// The switches, one line each, for --help.
std::string inside_help();

// "TF_GPU_ALLOCATOR=bfc", for each switch that is set already to what does not bypass.
std::vector<std::string> switches_that_stay();

// Sets the variables of this process, and leaves alone what is set.
void set_allocator_switches();

} // namespace vramscope
