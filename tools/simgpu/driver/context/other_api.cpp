// tools/simgpu/driver/context/other_api.cpp — the profiler switch: accepted, without effect.
#include "api.hpp"
#include "tools/simgpu/driver/context/context.hpp"

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
