// tools/simgpu/driver/module/jit.hpp — options of compilers and linkers that do nothing.
#pragma once

#include "tools/simgpu/driver/base/cuda.hpp"

namespace simgpu {

// Answers the options that a program reads after the call: the logs are empty and no
// time has passed.
CUresult answer_jit_options(unsigned count, const CUjit_option* options, void** values);

} // namespace simgpu
