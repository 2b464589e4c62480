// tests/differential/player/questions.hpp — the driver calls that vramscope itself makes.
//
// It makes them inside a hooked call. The order of driver calls is compared without these, and
// without these only; what the program itself called is compared all the same.
#pragma once

#include <cstring>

namespace differential {

constexpr const char* kQuestions[] = {
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuDeviceGetDefaultMemPool",
    "cuDeviceGetMemPool",
    "cuDeviceGetName",
    "cuDeviceGetUuid",
    "cuDevicePrimaryCtxGetState",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuGraphChildGraphNodeGetGraph",
    "cuGraphGetNodes",
    "cuGraphMemAllocNodeGetParams",
    "cuGraphMemFreeNodeGetParams",
    "cuGraphNodeGetType",
    "cuMemGetAddressRange_v2",
    "cuMemGetInfo_v2",
    "cuMemPoolGetAttribute",
    "cuStreamGetCtx",
    "cuStreamIsCapturing",
};

// These are asked with a pool only: calls that wait, or look at memory.
constexpr const char* kPoolCalls[] = {
    "cuCtxPopCurrent_v2",  "cuCtxPushCurrent_v2", "cuCtxSynchronize",
    "cuCtxSynchronize_v2", "cuMemcpyDtoH_v2",     "cuMemsetD8_v2",
};

// With a pool the driver sees these when the pool wants, not when the program calls.
constexpr const char* kPooled[] = {"cuMemAlloc_v2", "cuMemFree_v2"};

constexpr const char* kSplit[] = {"cuMemFreeAsync", "cuMemFreeAsync_ptsz"};

template <std::size_t kCount>
bool is_among(const char* name, const char* const (&names)[kCount])
{
    for (const char* one : names)
        if (std::strcmp(name, one) == 0)
            return true;
    return false;
}

} // namespace differential
