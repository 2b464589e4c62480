// tools/simgpu/driver/base/cuda.hpp — cuda.h with every exported form declared under its own name.
//
// Without this macro cuda.h renames: cuMemAlloc would mean cuMemAlloc_v2, and the old forms would
// not be declared.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

#define SIMGPU_EXPORT [[gnu::visibility("default")]]
