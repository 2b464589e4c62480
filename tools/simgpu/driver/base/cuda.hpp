// tools/simgpu/driver/base/cuda.hpp — cuda.h with every exported form declared under its own name.
//
// Without the macro, cuda.h would rename cuMemAlloc to cuMemAlloc_v2 and not declare the old forms.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#define SIMGPU_EXPORT [[gnu::visibility("default")]]
