// tools/simgpu/runtime/library.cpp — cudaLibrary*: images that a program loads itself.
#include "tools/simgpu/runtime/call.hpp"

#if CUDA_VERSION >= 13000
using namespace simgpu::runtime;

namespace {

// The handles and the numbers of the options are the driver's.
CUlibrary handle_of_library(cudaLibrary_t library)
{
    return reinterpret_cast<CUlibrary>(library);
}

} // namespace

SIMGPU_RUNTIME cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code,
                                               cudaJitOption* jitOptions, void** jitOptionsValues,
                                               unsigned int numJitOptions,
                                               cudaLibraryOption* libraryOptions,
                                               void** libraryOptionValues,
                                               unsigned int numLibraryOptions)
{
    return call(&Driver::cuLibraryLoadData, reinterpret_cast<CUlibrary*>(library), code,
                reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues, numJitOptions,
                reinterpret_cast<CUlibraryOption*>(libraryOptions), libraryOptionValues,
                numLibraryOptions);
}

SIMGPU_RUNTIME cudaError_t cudaLibraryLoadFromFile(
    cudaLibrary_t* library, const char* fileName, cudaJitOption* jitOptions,
    void** jitOptionsValues, unsigned int numJitOptions, cudaLibraryOption* libraryOptions,
    void** libraryOptionValues, unsigned int numLibraryOptions)
{
    return call(&Driver::cuLibraryLoadFromFile, reinterpret_cast<CUlibrary*>(library), fileName,
                reinterpret_cast<CUjit_option*>(jitOptions), jitOptionsValues, numJitOptions,
                reinterpret_cast<CUlibraryOption*>(libraryOptions), libraryOptionValues,
                numLibraryOptions);
}

SIMGPU_RUNTIME cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return call(&Driver::cuLibraryUnload, handle_of_library(library));
}

SIMGPU_RUNTIME cudaError_t cudaLibraryGetKernel(cudaKernel_t* pKernel, cudaLibrary_t library,
                                                const char* name)
{
    return call(&Driver::cuLibraryGetKernel, reinterpret_cast<CUkernel*>(pKernel),
                handle_of_library(library), name);
}

SIMGPU_RUNTIME cudaError_t cudaLibraryGetGlobal(void** dptr, size_t* bytes, cudaLibrary_t library,
                                                const char* name)
{
    return call(&Driver::cuLibraryGetGlobal, reinterpret_cast<CUdeviceptr*>(dptr), bytes,
                handle_of_library(library), name);
}

SIMGPU_RUNTIME cudaError_t cudaLibraryGetManaged(void** dptr, size_t* bytes, cudaLibrary_t library,
                                                 const char* name)
{
    return call(&Driver::cuLibraryGetManaged, reinterpret_cast<CUdeviceptr*>(dptr), bytes,
                handle_of_library(library), name);
}

SIMGPU_RUNTIME cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t lib)
{
    return call(&Driver::cuLibraryGetKernelCount, count, handle_of_library(lib));
}

SIMGPU_RUNTIME cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels,
                                                       unsigned int numKernels, cudaLibrary_t lib)
{
    return call(&Driver::cuLibraryEnumerateKernels, reinterpret_cast<CUkernel*>(kernels),
                numKernels, handle_of_library(lib));
}

SIMGPU_RUNTIME cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                           cudaFuncAttribute attr, int value,
                                                           int device)
{
    return call(&Driver::cuKernelSetAttribute, static_cast<CUfunction_attribute>(attr), value,
                reinterpret_cast<CUkernel>(kernel), device);
}
#endif
