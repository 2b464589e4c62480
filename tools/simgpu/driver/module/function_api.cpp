// tools/simgpu/driver/module/function_api.cpp — cuFunc*, cuOccupancy*: attributes of kernels.
#include <algorithm>

#include "api.hpp"
#include "tools/simgpu/driver/module/module.hpp"

namespace simgpu {
namespace {

constexpr int kUsualSharedBytes = 49152;
constexpr int kMultiprocessors = 132;
constexpr int kMostBlocksOfACluster = 8;

} // namespace

namespace api {

CUresult cuFuncGetAttribute(int* pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    if (!pi || attrib < 0 || attrib >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const Kernel* kernel = slots<Kernel>().find(hfunc);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    const auto set = kernel->attributes.find(attrib);
    if (set != kernel->attributes.end())
        *pi = set->second;
    else if (attrib == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        *pi = static_cast<int>(kMostThreads);
    else if (attrib == CU_FUNC_ATTRIBUTE_NUM_REGS)
        *pi = 32;
    else if (attrib == CU_FUNC_ATTRIBUTE_PTX_VERSION)
        *pi = kernel->module->architectures.ptx;
    else if (attrib == CU_FUNC_ATTRIBUTE_BINARY_VERSION)
        *pi = kernel->module->architectures.binary;
    else if (attrib == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        *pi = kUsualSharedBytes;
    else
        *pi = 0;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    Kernel* kernel = slots<Kernel>().find(hfunc);
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    if (attrib < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || attrib >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    kernel->attributes[attrib] = value;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache)
{
    return slots<Kernel>().find(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetSharedMemConfig(CUfunction hfunc, CUsharedconfig)
{
    return slots<Kernel>().find(hfunc) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetModule(CUmodule* hmod, CUfunction hfunc)
{
    const Kernel* kernel = slots<Kernel>().find(hfunc);
    if (!hmod)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *hmod = reinterpret_cast<CUmodule>(kernel->module);
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12030
CUresult cuFuncGetName(const char** name, CUfunction hfunc)
{
    const Kernel* kernel = slots<Kernel>().find(hfunc);
    if (!name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *name = kernel->name.c_str();
    return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 12040
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function)
{
    if (!state)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(function))
        return CUDA_ERROR_INVALID_HANDLE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction function)
{
    return slots<Kernel>().find(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
#endif

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t)
{
    if (!numBlocks || blockSize <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(func))
        return CUDA_ERROR_INVALID_HANDLE;
    *numBlocks = std::min(32, 2048 / blockSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func,
                                                              int blockSize, size_t dynamicSMemSize,
                                                              unsigned int)
{
    return api::cuOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, func, blockSize,
                                                            dynamicSMemSize);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize, size_t, int blockSizeLimit)
{
    if (!minGridSize || !blockSize)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(func))
        return CUDA_ERROR_INVALID_HANDLE;
    *blockSize = blockSizeLimit > 0 ? std::min(blockSizeLimit, static_cast<int>(kMostThreads))
                                    : static_cast<int>(kMostThreads);
    *minGridSize = kMultiprocessors * (2048 / *blockSize);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize,
                                                   CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit,
                                                   unsigned int)
{
    return api::cuOccupancyMaxPotentialBlockSize(
        minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int, int)
{
    if (!dynamicSmemSize)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(func))
        return CUDA_ERROR_INVALID_HANDLE;
    *dynamicSmemSize = kUsualSharedBytes;
    return CUDA_SUCCESS;
}

// Clusters of the largest portable size fit.
CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func,
                                            const CUlaunchConfig* config)
{
    if (!clusterSize || !config)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(func))
        return CUDA_ERROR_INVALID_HANDLE;
    *clusterSize = kMostBlocksOfACluster;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func,
                                      const CUlaunchConfig* config)
{
    if (!numClusters || !config)
        return CUDA_ERROR_INVALID_VALUE;
    if (!slots<Kernel>().find(func))
        return CUDA_ERROR_INVALID_HANDLE;
    *numClusters = kMultiprocessors / kMostBlocksOfACluster;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
