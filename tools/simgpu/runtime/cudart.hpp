// tools/simgpu/runtime/cudart.hpp — the header of this runtime: the toolkit's, or 12.4's.
//
// With SIMGPU_CUDART_12 the headers of CUDA 13 are read as those of CUDA 12.4, for a
// libcudart.so.12. All that differs between the two is here: structures whose fields moved or which
// grew, and functions whose parameters changed. CUDART_VERSION is then 12040, while CUDA_VERSION
// stays the driver's. tests/simgpu/runtime/cudart12_test.py compares every layout and every
// prototype with the headers of 12.4. Where the toolkit is older than 13 there is nothing to do.
#pragma once

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#undef __CUDA_API_VERSION_INTERNAL

#if !defined(SIMGPU_CUDART_12) || CUDA_VERSION < 13000
#include <cuda_runtime_api.h>
#else

// While its header is read, what CUDA 13 changed gets other names.
#define cudaDeviceProp cudaDeviceProp_13
#define cudaPointerAttributes cudaPointerAttributes_13
#define cudaResourceDesc cudaResourceDesc_13
#define cudaResourceViewDesc cudaResourceViewDesc_13
#define cudaChooseDevice cudaChooseDevice_13
#define cudaCreateSurfaceObject cudaCreateSurfaceObject_13
#define cudaCreateTextureObject cudaCreateTextureObject_13
#define cudaGetDeviceProperties cudaGetDeviceProperties_13
#define cudaGetSurfaceObjectResourceDesc cudaGetSurfaceObjectResourceDesc_13
#define cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceDesc_13
#define cudaGetTextureObjectResourceViewDesc cudaGetTextureObjectResourceViewDesc_13
#define cudaGraphAddDependencies cudaGraphAddDependencies_13
#define cudaGraphAddNode cudaGraphAddNode_13
#define cudaGraphGetEdges cudaGraphGetEdges_13
#define cudaGraphKernelNodeCopyAttributes cudaGraphKernelNodeCopyAttributes_13
#define cudaGraphNodeGetDependencies cudaGraphNodeGetDependencies_13
#define cudaGraphNodeGetDependentNodes cudaGraphNodeGetDependentNodes_13
#define cudaGraphRemoveDependencies cudaGraphRemoveDependencies_13
#define cudaMemAdvise cudaMemAdvise_13
#define cudaMemPrefetchAsync cudaMemPrefetchAsync_13
#define cudaPointerGetAttributes cudaPointerGetAttributes_13
#define cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_13
#define cudaStreamUpdateCaptureDependencies cudaStreamUpdateCaptureDependencies_13
#include <cuda_runtime_api.h>
#undef cudaDeviceProp
#undef cudaPointerAttributes
#undef cudaResourceDesc
#undef cudaResourceViewDesc
#undef cudaChooseDevice
#undef cudaCreateSurfaceObject
#undef cudaCreateTextureObject
#undef cudaGetDeviceProperties
#undef cudaGetSurfaceObjectResourceDesc
#undef cudaGetTextureObjectResourceDesc
#undef cudaGetTextureObjectResourceViewDesc
#undef cudaGraphAddDependencies
#undef cudaGraphAddNode
#undef cudaGraphGetEdges
#undef cudaGraphKernelNodeCopyAttributes
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaGraphRemoveDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaPointerGetAttributes
#undef cudaStreamGetCaptureInfo
#undef cudaStreamUpdateCaptureDependencies
#undef CUDART_VERSION
#define CUDART_VERSION 12040
// 12's headers do the same: programs that were built with 12 ask for this name.
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
        computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
    int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap;
    int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
    int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
        asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
        persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
        globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID,
        hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess,
        concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
        cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost,
        maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported,
        timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch,
        unifiedFunctionPointers;
    int reserved2[2], reserved1[1], reserved[60];
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void* devicePointer;
    void* hostPointer;
};

struct cudaResourceDesc {
    cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
    } res;
};

struct cudaResourceViewDesc {
    cudaResourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

// generate.py reads the parameters' names here.
// clang-format off
extern "C" {
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* prop);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* pSurfObject, const cudaResourceDesc* pResDesc);
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* pTexObject, const cudaResourceDesc* pResDesc, const cudaTextureDesc* pTexDesc, const cudaResourceViewDesc* pResViewDesc);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* pResDesc, cudaSurfaceObject_t surfObject);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* pResDesc, cudaTextureObject_t texObject);
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* pResViewDesc, cudaTextureObject_t texObject);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t numDependencies);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* edgeData, size_t numDependencies);
cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies, size_t numDependencies, cudaGraphNodeParams* nodeParams);
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies, const cudaGraphEdgeData* dependencyData, size_t numDependencies, cudaGraphNodeParams* nodeParams);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* numEdges);
cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edgeData, size_t* numEdges);
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hSrc, cudaGraphNode_t hDst);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies, size_t* pNumDependencies);
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* pDependencies, cudaGraphEdgeData* edgeData, size_t* pNumDependencies);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes, size_t* pNumDependentNodes);
cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes, cudaGraphEdgeData* edgeData, size_t* pNumDependentNodes);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t numDependencies);
cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* edgeData, size_t numDependencies);
cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice, int device);
cudaError_t cudaMemAdvise_v2(const void* devPtr, size_t count, cudaMemoryAdvise advice, cudaMemLocation location);
cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, int dstDevice, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void* devPtr, size_t count, cudaMemLocation location, unsigned int flags, cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out, unsigned long long* id_out, cudaGraph_t* graph_out, const cudaGraphNode_t** dependencies_out, size_t* numDependencies_out);
cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out, unsigned long long* id_out, cudaGraph_t* graph_out, const cudaGraphNode_t** dependencies_out, const cudaGraphEdgeData** edgeData_out, size_t* numDependencies_out);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies, size_t numDependencies, unsigned int flags);
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t* dependencies, const cudaGraphEdgeData* dependencyData, size_t numDependencies, unsigned int flags);
}
// clang-format on
#endif
#include <cuda_profiler_api.h>

// CUDA 13 gave the newest forms of these names the plain ones.
#if CUDART_VERSION >= 13000
#define SIMGPU_NEWEST(name, suffix) name
#else
#define SIMGPU_NEWEST(name, suffix) name##suffix
#endif
