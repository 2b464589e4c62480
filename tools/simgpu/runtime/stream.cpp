// tools/simgpu/runtime/stream.cpp — streams and events without flags.
#include "tools/simgpu/runtime/call.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaStreamCreate(cudaStream_t* pStream)
{
    return call(&Driver::cuStreamCreate, pStream, CU_STREAM_DEFAULT);
}

SIMGPU_RUNTIME cudaError_t cudaEventCreate(cudaEvent_t* event)
{
    return call(&Driver::cuEventCreate, event, CU_EVENT_DEFAULT);
}
