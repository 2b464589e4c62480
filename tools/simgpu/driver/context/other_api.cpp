// tools/simgpu/driver/context/other_api.cpp — the profiler switch: accepted, without effect.
#include "tools/simgpu/driver/context/context.hpp"

#include "api.hpp"

namespace simgpu::api {

CUresult cuProfilerStart(void)
{
    return CUDA_SUCCESS;
}
CUresult cuProfilerStop(void)
{
    return CUDA_SUCCESS;
}

} // namespace simgpu::api
