// tools/simgpu/runtime/device.cpp — devices, versions, limits, driver entry points.
#include <algorithm>
#include <cstring>

#include "tools/simgpu/runtime/channel.hpp"

using namespace simgpu::runtime;

SIMGPU_RUNTIME cudaError_t cudaRuntimeGetVersion(int* runtimeVersion)
{
    if (!runtimeVersion)
        return remember(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

SIMGPU_RUNTIME cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        if (!prop)
            return CUDA_ERROR_INVALID_VALUE;
        CUdevice found = 0;
        if (const CUresult error = driver.cuDeviceGet(&found, device))
            return error;
        const auto get = [&](CUdevice_attribute attribute) {
            int value = 0;
            driver.cuDeviceGetAttribute(&value, attribute, found);
            return value;
        };
        const auto bytes = [&](CUdevice_attribute attribute) {
            return static_cast<size_t>(get(attribute));
        };
        std::memset(prop, 0, sizeof *prop);
        driver.cuDeviceGetName(prop->name, sizeof prop->name, found);
        driver.cuDeviceGetUuid(reinterpret_cast<CUuuid*>(&prop->uuid), found);
        driver.cuDeviceTotalMem(&prop->totalGlobalMem, found);
        prop->sharedMemPerBlock = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
        prop->sharedMemPerMultiprocessor =
            bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
        prop->sharedMemPerBlockOptin = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        prop->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
        prop->regsPerMultiprocessor = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
        prop->warpSize = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
        prop->memPitch = bytes(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
        prop->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        prop->maxThreadsPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
        for (int axis = 0; axis < 3; ++axis) {
            prop->maxThreadsDim[axis] =
                get(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis));
            prop->maxGridSize[axis] =
                get(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis));
        }
        prop->totalConstMem = bytes(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
        prop->major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        prop->minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        prop->textureAlignment = bytes(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
        prop->texturePitchAlignment = bytes(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
        prop->multiProcessorCount = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        prop->canMapHostMemory = get(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
        prop->concurrentKernels = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
        prop->pciBusID = get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
        prop->pciDeviceID = get(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
        prop->asyncEngineCount = get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
        prop->unifiedAddressing = get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
        prop->memoryBusWidth = get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
        prop->l2CacheSize = get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
        prop->managedMemory = get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
        prop->concurrentManagedAccess = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
        prop->cooperativeLaunch = get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
#if CUDART_VERSION < 13000
        prop->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
        prop->deviceOverlap = get(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
        prop->memoryClockRate = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
        prop->singleToDoublePrecisionPerfRatio =
            get(CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
#endif
#if CUDART_VERSION >= 12000
        prop->hostRegisterSupported = get(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
#endif
        prop->persistingL2CacheMaxSize = get(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
        prop->accessPolicyMaxWindowSize = get(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
        prop->globalL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
        prop->localL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
        prop->maxBlocksPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
        prop->surfaceAlignment = bytes(CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT);
        prop->computePreemptionSupported = get(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
        prop->canUseHostPointerForRegisteredMem =
            get(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM);
        prop->streamPrioritiesSupported = get(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    return call_without_context(&Driver::cuDevicePrimaryCtxSetFlags, chosen_device(), flags);
}

SIMGPU_RUNTIME cudaError_t cudaGetDeviceFlags(unsigned int* flags)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        int active = 0;
        return driver.cuDevicePrimaryCtxGetState(chosen_device(), flags, &active);
    });
}

#if CUDART_VERSION >= 12000
SIMGPU_RUNTIME cudaError_t cudaInitDevice(int device, unsigned int, unsigned int)
{
    const int before = chosen_device();
    const cudaError_t error = cudaSetDevice(device);
    if (error == cudaSuccess)
        cudaSetDevice(before);
    return error;
}
#endif

SIMGPU_RUNTIME cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t* maxWidthInElements, const cudaChannelFormatDesc* fmtDesc, int device)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        CUarray_format format{};
        unsigned channels = 0;
        if (!fmtDesc || !format_of(*fmtDesc, format, channels))
            return CUDA_ERROR_INVALID_VALUE;
        return driver.cuDeviceGetTexture1DLinearMaxWidth(maxWidthInElements, format, channels,
                                                         device);
    });
}

// All devices are alike, so the first one is as good as any.
SIMGPU_RUNTIME cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop)
{
    if (!device || !prop)
        return remember(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

SIMGPU_RUNTIME cudaError_t cudaSetValidDevices(int* device_arr, int len)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        int count = 0;
        if (const CUresult error = driver.cuDeviceGetCount(&count))
            return error;
        if (len < 0 || len > count || (len > 0 && !device_arr))
            return CUDA_ERROR_INVALID_VALUE;
        const auto known = [count](int device) { return device >= 0 && device < count; };
        return std::all_of(device_arr, device_arr + len, known) ? CUDA_SUCCESS
                                                                : CUDA_ERROR_INVALID_DEVICE;
    });
}

SIMGPU_RUNTIME cudaError_t cudaProfilerStart(void)
{
    return cudaSuccess;
}
SIMGPU_RUNTIME cudaError_t cudaProfilerStop(void)
{
    return cudaSuccess;
}

namespace {

// The answer is what the driver's cuGetProcAddress returns: a wrapped pointer if
// an interposer wraps.
template <class Status>
cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                        unsigned long long flags, Status* status, bool per_thread)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        if (flags == cudaEnableDefault && per_thread)
            flags = cudaEnablePerThreadDefaultStream;
        int answer = 0;
        const CUresult result =
            look_up(driver, symbol, function, static_cast<int>(version), flags, &answer);
        if (result == CUDA_SUCCESS && status)
            *status = static_cast<Status>(answer);
        return result;
    });
}

} // namespace

#if CUDART_VERSION >= 12000
SIMGPU_RUNTIME cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                                   unsigned long long flags,
                                                   cudaDriverEntryPointQueryResult* driverStatus)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus, false);
}
SIMGPU_RUNTIME cudaError_t
cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* driverStatus);
SIMGPU_RUNTIME cudaError_t
cudaGetDriverEntryPoint_ptsz(const char* symbol, void** funcPtr, unsigned long long flags,
                             cudaDriverEntryPointQueryResult* driverStatus)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, driverStatus, true);
}
#endif

#if CUDART_VERSION >= 12050
SIMGPU_RUNTIME cudaError_t cudaGetDriverEntryPointByVersion(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus)
{
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus, false);
}
SIMGPU_RUNTIME decltype(cudaGetDriverEntryPointByVersion) cudaGetDriverEntryPointByVersion_ptsz;
SIMGPU_RUNTIME cudaError_t cudaGetDriverEntryPointByVersion_ptsz(
    const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
    cudaDriverEntryPointQueryResult* driverStatus)
{
    return entry_point(symbol, funcPtr, cudaVersion, flags, driverStatus, true);
}
#endif

#if CUDART_VERSION < 12000
SIMGPU_RUNTIME cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                                   unsigned long long flags)
{
    return entry_point(symbol, funcPtr, CUDART_VERSION, flags, static_cast<int*>(nullptr), false);
}
#endif
