// tools/simgpu/driver/base/narrowed.hpp — what the forms of CUDA 3.1 hand out, in 32 bits.
#pragma once

#include "tools/simgpu/driver/base/cuda.hpp"

namespace simgpu {

// Stores what the second form answered, if it succeeded and the program asked for it.
template <class Narrow, class Wide>
CUresult narrowed(CUresult result, Narrow* out, const Wide& wide)
{
    if (result == CUDA_SUCCESS && out)
        *out = static_cast<Narrow>(wide);
    return result;
}

} // namespace simgpu
