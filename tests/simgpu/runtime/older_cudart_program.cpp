// tests/simgpu/runtime/older_cudart_program.cpp — what a program of CUDA 12 or 11 relies on.
//
// older_cudart_test.py builds it with the headers of 12.4 and 11.8. Each structure that the runtime
// fills has bytes after it that must stay as they are, since newer ones are larger.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <cuda_runtime_api.h>

namespace {

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("line %d: %s\n", __LINE__, #condition);                                    \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (false)

template <class Structure>
struct Guarded {
    Structure value;
    unsigned char behind[256];
    Guarded() { std::memset(static_cast<void*>(this), 0x5a, sizeof *this); }
    bool intact() const
    {
        return std::all_of(std::begin(behind), std::end(behind),
                           [](int byte) { return byte == 0x5a; });
    }
};

void properties()
{
    int version = 0;
    EXPECT(cudaRuntimeGetVersion(&version) == cudaSuccess && version == CUDART_VERSION);
    Guarded<cudaDeviceProp> device;
    EXPECT(cudaGetDeviceProperties(&device.value, 0) == cudaSuccess && device.intact());
    const cudaDeviceProp& known = device.value;
    EXPECT(std::string(known.name) == "Simulated GPU" && known.totalGlobalMem == 512u << 20);
    // Programs divide by these.
    for (const std::size_t number :
         {known.sharedMemPerBlock, known.sharedMemPerBlockOptin, known.sharedMemPerMultiprocessor,
          known.memPitch, known.textureAlignment, known.texturePitchAlignment, known.totalConstMem})
        EXPECT(number > 0);
    for (const int number : {known.regsPerBlock,
                             known.regsPerMultiprocessor,
                             known.warpSize,
                             known.maxThreadsPerBlock,
                             known.clockRate,
                             known.major,
                             known.multiProcessorCount,
                             known.memoryClockRate,
                             known.memoryBusWidth,
                             known.l2CacheSize,
                             known.maxThreadsPerMultiProcessor,
                             known.maxBlocksPerMultiProcessor,
                             known.asyncEngineCount,
                             known.singleToDoublePrecisionPerfRatio,
                             known.maxGridSize[0],
                             known.maxGridSize[1],
                             known.maxGridSize[2],
                             known.maxThreadsDim[0],
                             known.maxThreadsDim[1],
                             known.maxThreadsDim[2]})
        EXPECT(number > 0);
}

void pointers()
{
    void* memory = nullptr;
    EXPECT(cudaMalloc(&memory, 4096) == cudaSuccess);
    Guarded<cudaPointerAttributes> attributes;
    EXPECT(cudaPointerGetAttributes(&attributes.value, memory) == cudaSuccess &&
           attributes.intact());
    EXPECT(attributes.value.type == cudaMemoryTypeDevice &&
           attributes.value.devicePointer == memory);
    EXPECT(cudaFree(memory) == cudaSuccess);
}

void textures()
{
    void* memory = nullptr;
    EXPECT(cudaMalloc(&memory, 4096) == cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    resource.res.linear.sizeInBytes = 4096;
    const cudaTextureDesc description{};
    cudaTextureObject_t texture = 0;
    EXPECT(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
    Guarded<cudaResourceDesc> told;
    EXPECT(cudaGetTextureObjectResourceDesc(&told.value, texture) == cudaSuccess && told.intact());
    EXPECT(told.value.res.linear.devPtr == memory && told.value.res.linear.sizeInBytes == 4096);
    Guarded<cudaTextureDesc> looks;
    EXPECT(cudaGetTextureObjectTextureDesc(&looks.value, texture) == cudaSuccess && looks.intact());
    EXPECT(cudaDestroyTextureObject(texture) == cudaSuccess);
    EXPECT(cudaFree(memory) == cudaSuccess);
}

// The forms of capture information that PyTorch and others ask for, before, in and after a capture.
void captures()
{
    cudaStream_t stream = nullptr;
    EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
    auto status = cudaStreamCaptureStatusInvalidated;
    unsigned long long id = 0, same_id = 0;
    cudaGraph_t graph = nullptr, captured = nullptr;
    const cudaGraphNode_t* nodes = nullptr;
    std::size_t count = 7;
    EXPECT(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count) ==
           cudaSuccess);
    EXPECT(status == cudaStreamCaptureStatusNone);
    EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    EXPECT(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count) ==
           cudaSuccess);
    EXPECT(status == cudaStreamCaptureStatusActive && id != 0 && graph && count == 0);
    EXPECT(cudaLaunchHostFunc(
               stream, [](void*) {}, nullptr) == cudaSuccess);
#if CUDART_VERSION >= 12030
    const cudaGraphEdgeData* edges = nullptr;
    EXPECT(cudaStreamGetCaptureInfo_v3(stream, &status, &same_id, &graph, &nodes, &edges, &count) ==
           cudaSuccess);
#else
    EXPECT(cudaStreamGetCaptureInfo(stream, &status, &same_id) == cudaSuccess);
    EXPECT(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &nodes, &count) ==
           cudaSuccess);
#endif
    EXPECT(same_id == id && count == 1 && nodes[0]);
    EXPECT(cudaStreamUpdateCaptureDependencies(stream, nullptr, 0,
                                               cudaStreamSetCaptureDependencies) == cudaSuccess);
    EXPECT(cudaStreamEndCapture(stream, &captured) == cudaSuccess && captured == graph);
    EXPECT(cudaGraphGetEdges(captured, nullptr, nullptr, &count) == cudaSuccess && count == 0);
    cudaGraphExec_t executable = nullptr;
#if CUDART_VERSION >= 12030
    EXPECT(cudaGraphGetEdges_v2(captured, nullptr, nullptr, nullptr, &count) == cudaSuccess &&
           count == 0);
    EXPECT(cudaGraphInstantiate(&executable, captured, 0) == cudaSuccess);
#else
    char log[64] = {};
    cudaGraphNode_t failed = nullptr;
    EXPECT(cudaGraphInstantiate(&executable, captured, &failed, log, sizeof log) == cudaSuccess);
    auto updated = cudaGraphExecUpdateError;
    EXPECT(cudaGraphExecUpdate(executable, captured, &failed, &updated) == cudaSuccess &&
           updated == cudaGraphExecUpdateSuccess);
#endif
    EXPECT(cudaGraphLaunch(executable, stream) == cudaSuccess &&
           cudaStreamSynchronize(stream) == cudaSuccess);
    EXPECT(cudaGraphExecDestroy(executable) == cudaSuccess &&
           cudaGraphDestroy(captured) == cudaSuccess);
    EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
}

void managed()
{
    void* memory = nullptr;
    EXPECT(cudaMallocManaged(&memory, 4096, cudaMemAttachGlobal) == cudaSuccess);
    EXPECT(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
    EXPECT(cudaMemPrefetchAsync(memory, 4096, 0, nullptr) == cudaSuccess);
#if CUDART_VERSION >= 12020
    EXPECT(cudaMemAdvise_v2(memory, 4096, cudaMemAdviseSetPreferredLocation,
                            {cudaMemLocationTypeDevice, 0}) == cudaSuccess);
    EXPECT(cudaMemPrefetchAsync_v2(memory, 4096, {cudaMemLocationTypeDevice, 0}, 0, nullptr) ==
           cudaSuccess);
#endif
    EXPECT(cudaDeviceSynchronize() == cudaSuccess && cudaFree(memory) == cudaSuccess);
}

} // namespace

int main()
{
    properties();
    pointers();
    textures();
    captures();
    managed();
    std::printf("all as it has it\n");
}
