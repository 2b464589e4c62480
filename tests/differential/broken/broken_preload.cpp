// tests/differential/broken/broken_preload.cpp — an interposer that does harm.
//
// The tester must see the harm. VRAMSCOPE_BROKEN names its kind: result, out, order, extra, errno
// or leak. The library is preloaded before vramscope, and is in the way only of calls by the
// linked symbol.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <cuda.h>

namespace {

bool broken(const char* how)
{
    const char* chosen = std::getenv("VRAMSCOPE_BROKEN");
    return chosen && std::strcmp(chosen, how) == 0;
}

template <class Function>
Function* next(Function*, const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

} // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* out, size_t bytes)
{
    auto* const allocate = next(&cuMemAlloc_v2, "cuMemAlloc_v2");
    int devices = 0;
    CUdeviceptr lost = 0;
    if (broken("extra"))
        next(&cuDeviceGetCount, "cuDeviceGetCount")(&devices);
    if (broken("leak"))
        allocate(&lost, 512);
    const CUdeviceptr before = out ? *out : 0;
    const CUresult result = allocate(out, bytes);
    if (result != CUDA_SUCCESS && out && broken("out"))
        *out = before;
    if (result == CUDA_ERROR_OUT_OF_MEMORY && broken("result"))
        return CUDA_ERROR_UNKNOWN;
    if (broken("errno"))
        errno = 0;
    return result;
}

// Swaps two frees: the second goes first.
CUresult cuMemFree_v2(CUdeviceptr address)
{
    static CUdeviceptr kept;
    auto* const release = next(&cuMemFree_v2, "cuMemFree_v2");
    if (!broken("order"))
        return release(address);
    if (!kept) {
        kept = address;
        return CUDA_SUCCESS;
    }
    const CUresult result = release(address);
    release(kept);
    kept = 0;
    return result;
}
