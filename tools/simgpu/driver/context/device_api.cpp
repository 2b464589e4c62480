// tools/simgpu/driver/context/device_api.cpp — cuInit and what a program asks about devices.
#include <algorithm>
#include <cstring>
#include <pthread.h>

#include "api.hpp"
#include "tools/simgpu/driver/base/entry.hpp"
#include "tools/simgpu/driver/base/narrowed.hpp"
#include "tools/simgpu/driver/base/settings.hpp"
#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu {
namespace {

constexpr char kName[] = "Simulated GPU";
constexpr int kMajor = kComputeCapability / 10;
constexpr int kMinor = kComputeCapability % 10;

std::atomic<bool> forked{false};

CUresult initialise()
{
    static std::mutex* mutex = new std::mutex;
    const std::lock_guard lock(*mutex);
    if (initialised.load())
        return CUDA_SUCCESS;
    const auto setting = device_setting();
    if (!setting)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned ordinal = 0; ordinal < setting->count; ++ordinal) {
        auto* device = new Device(static_cast<int>(ordinal), setting->bytes);
        if (!device->window())
            return CUDA_ERROR_OUT_OF_MEMORY;
        devices().push_back(device);
    }
    // As with a real driver, CUDA cannot be used in a child of fork.
    pthread_atfork(nullptr, nullptr, [] {
        forked.store(true);
        initialised.store(false);
    });
    initialised.store(true, std::memory_order_release);
    return CUDA_SUCCESS;
}

struct AttributeValue {
    CUdevice_attribute attribute;
    int value;
};

// The values are those of a large data-centre card; what is not listed is 0.
constexpr AttributeValue kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1500000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2600000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 50 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, kMajor},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, kMinor},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 32 << 20},
    {CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 128 << 20},
    {CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
    {CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1},
#if CUDA_VERSION >= 12000
    {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1},
#endif
#if CUDA_VERSION >= 12010
    {CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 1},
#endif
#if CUDA_VERSION >= 13000
    {CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED, 1},
#endif
};

} // namespace

namespace api {

CUresult cuInit(unsigned int Flags)
{
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (forked.load())
        return CUDA_ERROR_NOT_INITIALIZED;
    return initialise();
}

CUresult cuDeviceGetCount(int* count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(devices().size());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_at(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int len, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!name || len <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t room = std::min(static_cast<std::size_t>(len) - 1, sizeof kName - 1);
    std::memcpy(name, kName, room);
    name[room] = '\0';
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(uuid->bytes, "simulated-gpu-", 14);
    uuid->bytes[14] = static_cast<char>('0' + dev / 10);
    uuid->bytes[15] = static_cast<char>('0' + dev % 10);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev)
{
    return api::cuDeviceGetUuid(uuid, dev);
}

CUresult cuDeviceGetLuid(char*, unsigned int*, CUdevice)
{
    return CUDA_ERROR_NOT_SUPPORTED;
} // Windows only

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice dev)
{
    const Device* device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = device->total_bytes();
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(unsigned int* bytes, CUdevice dev)
{
    size_t total = 0;
    const CUresult result =
        bytes ? api::cuDeviceTotalMem_v2(&total, dev) : CUDA_ERROR_INVALID_VALUE;
    return narrowed(result, bytes, std::min<size_t>(total, UINT32_MAX));
}

CUresult cuDeviceGetAttribute(int* pi, CUdevice_attribute attrib, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pi || attrib <= 0 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const auto row =
        std::find_if(std::begin(kAttributes), std::end(kAttributes),
                     [attrib](const AttributeValue& known) { return known.attribute == attrib; });
    *pi = row == std::end(kAttributes) ? 0 : row->value;
    if (attrib == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
        *pi = dev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = kMajor;
    *minor = kMinor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop* prop, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!prop)
        return CUDA_ERROR_INVALID_VALUE;
    *prop = {1024,
             {1024, 1024, 64},
             {2147483647, 65535, 65535},
             49152,
             65536,
             32,
             2147483647,
             65536,
             1500000,
             512};
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* pciBusId, int len, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pciBusId || len < 13)
        return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(pciBusId, static_cast<std::size_t>(len), "0000:01:%02X.0",
                  static_cast<unsigned>(dev));
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* dev, const char* pciBusId)
{
    if (!dev || !pciBusId)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    if (std::sscanf(pciBusId, "%x:%x:%x", &domain, &bus, &slot) != 3)
        return CUDA_ERROR_INVALID_VALUE;
    if (domain != 0 || bus != 1 || !device_at(static_cast<CUdevice>(slot)))
        return CUDA_ERROR_INVALID_DEVICE;
    *dev = static_cast<CUdevice>(slot);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetExecAffinitySupport(int* pi, CUexecAffinityType, CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!pi)
        return CUDA_ERROR_INVALID_VALUE;
    *pi = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format, unsigned,
                                            CUdevice dev)
{
    if (!device_at(dev))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!maxWidthInElements)
        return CUDA_ERROR_INVALID_VALUE;
    *maxWidthInElements = std::size_t{1} << 28;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
