// tools/simgpu/runtime/launch.cpp — kernel launches, attributes of functions, occupancy.
#include <vector>

#include "tools/simgpu/runtime/call.hpp"
#include "tools/simgpu/runtime/image.hpp"

using namespace simgpu::runtime;

namespace {

struct Configuration {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
};

std::vector<Configuration>& configurations()
{
    static thread_local std::vector<Configuration> stack;
    return stack;
}

CUlaunchConfig launch_config(const cudaLaunchConfig_t& config)
{
    return {config.gridDim.x,
            config.gridDim.y,
            config.gridDim.z,
            config.blockDim.x,
            config.blockDim.y,
            config.blockDim.z,
            static_cast<unsigned>(config.dynamicSmemBytes),
            config.stream,
            reinterpret_cast<CUlaunchAttribute*>(config.attrs),
            config.numAttrs};
}

// For functions that are about one kernel: `use` gets the driver and its handle of the kernel.
template <class Use>
cudaError_t with_function(const void* stub, Use use)
{
    return enter([&](const Driver& driver) -> CUresult {
        CUfunction function = nullptr;
        const CUresult error = function_of(driver, stub, function);
        return error != CUDA_SUCCESS ? error : use(driver, function);
    });
}

CUresult launch(const Driver& driver, PFN_cuLaunchKernel_v4000 call, const void* stub, dim3 grid,
                dim3 block, void** args, size_t shared_bytes, cudaStream_t stream)
{
    CUfunction function = nullptr;
    if (const CUresult error = function_of(driver, stub, function))
        return error;
    const CUresult result = call(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                 static_cast<unsigned>(shared_bytes), stream, args, nullptr);
    return result == CUDA_ERROR_INVALID_VALUE ? result_of(cudaErrorInvalidConfiguration) : result;
}

} // namespace

SIMGPU_RUNTIME unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                    struct CUstream_st* stream);
SIMGPU_RUNTIME unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                                    struct CUstream_st* stream)
{
    configurations().push_back({gridDim, blockDim, sharedMem, stream});
    return 0;
}

SIMGPU_RUNTIME cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim,
                                                      size_t* sharedMem, void* stream);
SIMGPU_RUNTIME cudaError_t __cudaPopCallConfiguration(dim3* gridDim, dim3* blockDim,
                                                      size_t* sharedMem, void* stream)
{
    if (configurations().empty())
        return remember(cudaErrorMissingConfiguration);
    const Configuration top = configurations().back();
    configurations().pop_back();
    *gridDim = top.grid;
    *blockDim = top.block;
    *sharedMem = top.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    return cudaSuccess;
}

SIMGPU_STREAM_FUNCTION(cudaLaunchKernel, _ptsz,
                       (const void* func, dim3 gridDim, dim3 blockDim, void** args,
                        size_t sharedMem, cudaStream_t stream),
                       {
                           return launch(driver, calls.cuLaunchKernel, func, gridDim, blockDim,
                                         args, sharedMem, stream);
                       })

#if CUDART_VERSION >= 12010
// The program may keep what this returns for good, so it is the driver's kernel, which outlives a
// reset of the device.
SIMGPU_RUNTIME cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub);
SIMGPU_RUNTIME cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub)
{
    return enter_without_context([&](const Driver& driver) -> CUresult {
        CUfunction function = nullptr;
        const CUresult result = function_of(driver, stub, function);
        *kernel = reinterpret_cast<cudaKernel_t>(function);
        return result;
    });
}

SIMGPU_RUNTIME cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr)
{
    return kernelPtr ? __cudaGetKernel(kernelPtr, entryFuncAddr) : remember(cudaErrorInvalidValue);
}

SIMGPU_RUNTIME cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                                              void** args, size_t sharedMem, cudaStream_t stream);
SIMGPU_STREAM_FUNCTION(__cudaLaunchKernel, _ptsz,
                       (cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void** args,
                        size_t sharedMem, cudaStream_t stream),
                       {
                           return launch(driver, calls.cuLaunchKernel, kernel, gridDim, blockDim,
                                         args, sharedMem, stream);
                       })
#endif

SIMGPU_STREAM_FUNCTION(cudaLaunchCooperativeKernel, _ptsz,
                       (const void* func, dim3 gridDim, dim3 blockDim, void** args,
                        size_t sharedMem, cudaStream_t stream),
                       {
                           CUfunction function = nullptr;
                           if (const CUresult error = function_of(driver, func, function))
                               return error;
                           return calls.cuLaunchCooperativeKernel(
                               function, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                               blockDim.z, static_cast<unsigned>(sharedMem), stream, args);
                       })

SIMGPU_STREAM_FUNCTION(cudaLaunchKernelExC, _ptsz,
                       (const cudaLaunchConfig_t* config, const void* func, void** args), {
                           if (!config)
                               return CUDA_ERROR_INVALID_VALUE;
                           CUfunction function = nullptr;
                           if (const CUresult error = function_of(driver, func, function))
                               return error;
                           const CUlaunchConfig same = launch_config(*config);
                           return calls.cuLaunchKernelEx(&same, function, args, nullptr);
                       })

SIMGPU_RUNTIME cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr)
{
    if (!functionPtr)
        return remember(cudaErrorInvalidValue);
    return with_function(symbolPtr, [&](const Driver&, CUfunction function) {
        *functionPtr = function;
        return CUDA_SUCCESS;
    });
}

SIMGPU_RUNTIME cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* func)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        if (!attributes)
            return CUDA_ERROR_INVALID_VALUE;
        const auto get = [&](CUfunction_attribute attribute) {
            int value = 0;
            driver.cuFuncGetAttribute(&value, attribute, function);
            return value;
        };
        *attributes = {};
        attributes->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        attributes->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
        attributes->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
        attributes->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
        attributes->sharedSizeBytes = static_cast<size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
        attributes->maxDynamicSharedSizeBytes =
            get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
        return CUDA_SUCCESS;
    });
}

#if CUDART_VERSION >= 12030
SIMGPU_RUNTIME cudaError_t cudaFuncGetName(const char** name, const void* func)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        return driver.cuFuncGetName(name, function);
    });
}
#endif

SIMGPU_RUNTIME cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig)
{
    return with_function(func, [](const Driver&, CUfunction) { return CUDA_SUCCESS; });
}

SIMGPU_RUNTIME cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attribute,
                                                int value)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        return driver.cuFuncSetAttribute(function, static_cast<CUfunction_attribute>(attribute),
                                         value);
    });
}

SIMGPU_RUNTIME cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        return driver.cuFuncSetCacheConfig(function, static_cast<CUfunc_cache>(cacheConfig));
    });
}

SIMGPU_RUNTIME cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        return driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            numBlocks, function, blockSize, dynamicSMemSize, flags);
    });
}

SIMGPU_RUNTIME cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks,
                                                                         const void* func,
                                                                         int blockSize,
                                                                         size_t dynamicSMemSize)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                  dynamicSMemSize, 0);
}

SIMGPU_RUNTIME cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize,
                                                                     const void* func,
                                                                     int numBlocks, int blockSize)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        return driver.cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function, numBlocks,
                                                              blockSize);
    });
}

SIMGPU_RUNTIME cudaError_t cudaOccupancyMaxPotentialClusterSize(
    int* clusterSize, const void* func, const cudaLaunchConfig_t* launchConfig)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        if (!launchConfig)
            return CUDA_ERROR_INVALID_VALUE;
        const CUlaunchConfig same = launch_config(*launchConfig);
        return driver.cuOccupancyMaxPotentialClusterSize(clusterSize, function, &same);
    });
}

SIMGPU_RUNTIME cudaError_t cudaOccupancyMaxActiveClusters(int* numClusters, const void* func,
                                                          const cudaLaunchConfig_t* launchConfig)
{
    return with_function(func, [&](const Driver& driver, CUfunction function) {
        if (!launchConfig)
            return CUDA_ERROR_INVALID_VALUE;
        const CUlaunchConfig same = launch_config(*launchConfig);
        return driver.cuOccupancyMaxActiveClusters(numClusters, function, &same);
    });
}

#if CUDART_VERSION >= 13000
SIMGPU_RUNTIME cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                           cudaFuncAttribute attr, int value,
                                                           int device)
{
    return call(&Driver::cuKernelSetAttribute, attr, value, kernel, device);
}
#endif
