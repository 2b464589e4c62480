// tests/simgpu/runtime/runtime_api.cu — the runtime's functions beside those for memory.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(error));            \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

static const char* name_of(cudaError_t error)
{
    cudaGetLastError();
    return cudaGetErrorName(error);
}

__device__ int table[16];
__device__ int large_table[1 << 16];
__managed__ int large_managed_table[1 << 16];

__global__ void do_nothing(int*) {}

// CUB refuses to run where this is false.
static void tell_architecture()
{
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(do_nothing)));
    const int built_for[] = {__CUDA_ARCH_LIST__};
    const bool known =
        std::count(std::begin(built_for), std::end(built_for), attributes.ptxVersion * 10) == 1;
    std::printf("built for this architecture %d, binary %d\n", known, attributes.binaryVersion);
}

static void ask_for_clusters()
{
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(16);
    config.blockDim = dim3(64);
    int size = 0;
    int active = 0;
    size_t width = 0;
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    CHECK(cudaOccupancyMaxPotentialClusterSize(&size, do_nothing, &config));
    CHECK(cudaOccupancyMaxActiveClusters(&active, do_nothing, &config));
    CHECK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &channel, 0));
    std::printf("clusters of %d, some %d, texture width %d\n", size, active > 0, width > 0);
}

static cudaArray_t make_array(int width, int height)
{
    const cudaChannelFormatDesc channel = cudaCreateChannelDesc<int>();
    cudaArray_t array = nullptr;
    CHECK(cudaMallocArray(&array, &channel, width, height, cudaArraySurfaceLoadStore));
    return array;
}

static void print_all(const char* title, cudaArray_t array, int width, int height)
{
    int values[64] = {};
    CHECK(cudaMemcpy2DFromArray(values, width * sizeof(int), array, 0, 0, width * sizeof(int),
                                height, cudaMemcpyDeviceToHost));
    std::printf("%s", title);
    for (int index = 0; index < width * height; ++index)
        std::printf(" %d", values[index]);
    std::printf("\n");
}

static void copy_arrays()
{
    constexpr size_t kInt = sizeof(int);
    const int given[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const cudaArray_t array = make_array(4, 3);
    const int none[12] = {};
    CHECK(cudaMemcpy2DToArray(array, 0, 0, none, 4 * kInt, 4 * kInt, 3, cudaMemcpyHostToDevice));
    // The copy goes on in the next rows.
    CHECK(cudaMemcpyToArray(array, 1 * kInt, 0, given, 10 * kInt, cudaMemcpyHostToDevice));
    print_all("line in rows", array, 4, 3);
    int line[6] = {};
    CHECK(cudaMemcpyFromArray(line, array, 2 * kInt, 0, 6 * kInt, cudaMemcpyDeviceToHost));
    std::printf("line from rows %d %d %d %d %d %d\n", line[0], line[1], line[2], line[3], line[4],
                line[5]);
    const cudaArray_t wide = make_array(6, 2);
    CHECK(cudaMemcpyArrayToArray(wide, 0, 0, array, 0, 0, 12 * kInt, cudaMemcpyDeviceToDevice));
    print_all("rows of another width", wide, 6, 2);
    CHECK(cudaMemcpy2DArrayToArray(wide, 0, 0, array, 0, 1, 2 * kInt, 2, cudaMemcpyDeviceToDevice));
    print_all("a corner", wide, 6, 2);
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMemcpyToArrayAsync(array, 0, 2, given, 2 * kInt, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy2DToArrayAsync(array, 2 * kInt, 2, given, kInt, kInt, 1, cudaMemcpyHostToDevice,
                                   stream));
    CHECK(cudaStreamSynchronize(stream));
    print_all("queued", array, 4, 3);
    cudaChannelFormatDesc channel{};
    cudaExtent extent{};
    unsigned flags = 0;
    CHECK(cudaArrayGetInfo(&channel, &extent, &flags, array));
    std::printf("array %d bits of kind %d, %zux%zux%zu, flags %u\n", channel.x, channel.f,
                extent.width, extent.height, extent.depth, flags);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFreeArray(wide));
    std::printf("freed %s\n",
                name_of(cudaMemcpyToArray(array, 0, 0, given, 4, cudaMemcpyHostToDevice)));
    CHECK(cudaStreamDestroy(stream));
}

static void make_textures()
{
    const cudaArray_t array = make_array(4, 4);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc texture{};
    texture.addressMode[0] = cudaAddressModeClamp;
    texture.filterMode = cudaFilterModePoint;
    texture.readMode = cudaReadModeElementType;
    texture.normalizedCoords = 1;
    cudaTextureObject_t object = 0;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    cudaResourceDesc told{};
    cudaTextureDesc told_texture{};
    CHECK(cudaGetTextureObjectResourceDesc(&told, object));
    CHECK(cudaGetTextureObjectTextureDesc(&told_texture, object));
    std::printf("texture of the array %d, clamp %d, by element %d, normalized %d\n",
                told.res.array.array == array, told_texture.addressMode[0] == cudaAddressModeClamp,
                told_texture.readMode == cudaReadModeElementType, told_texture.normalizedCoords);
    CHECK(cudaDestroyTextureObject(object));
    std::printf("destroyed twice %s\n", name_of(cudaDestroyTextureObject(object)));
    cudaSurfaceObject_t surface = 0;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    CHECK(cudaGetSurfaceObjectResourceDesc(&told, surface));
    CHECK(cudaDestroySurfaceObject(surface));

    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, 4096));
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<float2>();
    resource.res.linear.sizeInBytes = 4096;
    CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    CHECK(cudaGetTextureObjectResourceDesc(&told, object));
    std::printf("texture of memory %d, channels of %d and %d bits\n",
                told.res.linear.devPtr == memory, told.res.linear.desc.x, told.res.linear.desc.y);
    CHECK(cudaDestroyTextureObject(object));
    CHECK(cudaFree(memory));
    CHECK(cudaFreeArray(array));
}

static void fill_box()
{
    cudaPitchedPtr box{};
    const cudaExtent extent = make_cudaExtent(8, 2, 2);
    CHECK(cudaMalloc3D(&box, extent));
    CHECK(cudaMemset3D(box, 1, extent));
    CHECK(cudaMemset3D(box, 2, make_cudaExtent(4, 1, 2)));
    unsigned char bytes[32] = {};
    cudaMemcpy3DParms copy{};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(bytes, 8, 8, 2);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    std::printf("box %d %d %d, %d %d %d\n", bytes[0], bytes[4], bytes[8], bytes[16], bytes[20],
                bytes[24]);
    CHECK(cudaFree(box.ptr));
}

// From the host to a variable, to memory, and back. Each copy is a node.
static void copy_in_a_graph()
{
    int from[16];
    int to[16] = {};
    int back[16] = {};
    std::fill(std::begin(from), std::end(from), 7);
    int* memory = nullptr;
    CHECK(cudaMalloc(&memory, sizeof from));
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t nodes[4] = {};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&nodes[0], graph, nullptr, 0, table, from, sizeof from, 0,
                                         cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&nodes[1], graph, &nodes[0], 1, memory, table,
                                           sizeof from, 0, cudaMemcpyDeviceToDevice));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(memory, sizeof from, 16, 1);
    copy.dstPtr = make_cudaPitchedPtr(to, sizeof from, 16, 1);
    copy.extent = make_cudaExtent(sizeof from, 1, 1);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &copy));
    CHECK(cudaGraphAddMemcpyNode1D(&nodes[3], graph, &nodes[2], 1, back, to, sizeof back,
                                   cudaMemcpyHostToHost));
    cudaMemcpy3DParms told{};
    CHECK(cudaGraphMemcpyNodeGetParams(nodes[2], &told));
    std::printf("copy node %d bytes, to the host %d\n", static_cast<int>(told.extent.width),
                told.kind == cudaMemcpyDeviceToHost && told.dstPtr.ptr == to);
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::printf("graph copied %d %d\n", to[15], back[15]);

    std::fill(std::begin(from), std::end(from), 8);
    CHECK(cudaGraphNodeSetEnabled(exec, nodes[3], 0));
    unsigned enabled = 1;
    CHECK(cudaGraphNodeGetEnabled(exec, nodes[3], &enabled));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::printf("disabled %u: copied %d %d\n", enabled, to[15], back[15]);
    CHECK(cudaGraphNodeSetEnabled(exec, nodes[3], 1));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[3], back, to, sizeof(int),
                                             cudaMemcpyHostToHost));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::printf("enabled, one value: %d %d\n", back[0], back[15]);

    cudaGraph_t clone = nullptr;
    cudaGraphNode_t copied = nullptr;
    size_t roots = 0;
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphNodeFindInClone(&copied, nodes[2], clone));
    CHECK(cudaGraphGetRootNodes(clone, nullptr, &roots));
    std::printf("clone has the node %d, roots %zu\n", copied && copied != nodes[2], roots);
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(memory));
}

static void launch_in_a_graph()
{
    int* argument = nullptr;
    void* arguments[] = {&argument};
    cudaKernelNodeParams kernel{};
    kernel.func = reinterpret_cast<void*>(do_nothing);
    kernel.gridDim = dim3(3);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    cudaGraph_t graph = nullptr;
    cudaGraphNode_t node = nullptr;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    cudaKernelNodeParams told{};
    CHECK(cudaGraphKernelNodeGetParams(node, &told));
    std::printf("kernel node is the function %d, %u blocks\n", told.func == kernel.func,
                told.gridDim.x);
    cudaKernelNodeAttrValue value{};
    value.priority = 3;
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributePriority, &value));
    value.priority = 0;
    CHECK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributePriority, &value));
    cudaGraphExec_t exec = nullptr;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    kernel.gridDim = dim3(5);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &kernel));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
    std::printf("attribute %d\n", value.priority);
#if CUDART_VERSION >= 12000
    CHECK(cudaGraphExecDestroy(exec));
    cudaGraphInstantiateParams parameters{};
    parameters.flags = cudaGraphInstantiateFlagUpload;
    CHECK(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
    CHECK(cudaGraphLaunch(exec, nullptr));
    CHECK(cudaDeviceSynchronize());
#endif
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void ask_a_capture()
{
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    do_nothing<<<1, 1, 0, stream>>>(nullptr);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* tips = nullptr;
    size_t count = 0;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &tips, nullptr, &count));
    CHECK(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0,
                                              cudaStreamSetCaptureDependencies));
#else
    CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &tips, &count));
    CHECK(
        cudaStreamUpdateCaptureDependencies(stream, nullptr, 0, cudaStreamSetCaptureDependencies));
#endif
    do_nothing<<<1, 1, 0, stream>>>(nullptr);
    cudaGraph_t captured = nullptr;
    size_t roots = 0;
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphGetRootNodes(captured, nullptr, &roots));
    std::printf("capture %d, id %d, its graph %d, tips %zu, then roots %zu\n",
                status == cudaStreamCaptureStatusActive, id > 0, graph == captured, count, roots);
    CHECK(cudaGraphDestroy(captured));
    CHECK(cudaStreamDestroy(stream));
}

static void share_an_event()
{
    cudaEvent_t event = nullptr;
    cudaEvent_t opened = nullptr;
    cudaIpcEventHandle_t handle{};
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetEventHandle(&handle, event));
    std::printf("own event %s\n", name_of(cudaIpcOpenEventHandle(&opened, handle)));
    CHECK(cudaEventDestroy(event));
}

static void set_attributes()
{
    cudaStream_t stream = nullptr;
    cudaStream_t other = nullptr;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    cudaStreamAttrValue value{};
    value.accessPolicyWindow.num_bytes = 4096;
    CHECK(cudaStreamSetAttribute(stream, cudaLaunchAttributeAccessPolicyWindow, &value));
    CHECK(cudaStreamCopyAttributes(other, stream));
    value = {};
    CHECK(cudaStreamGetAttribute(other, cudaLaunchAttributeAccessPolicyWindow, &value));
    std::printf("window %zu\n", value.accessPolicyWindow.num_bytes);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
}

static void use_large_variables()
{
    const int last = 9;
    int read = 0;
    const size_t offset = ((1 << 16) - 1) * sizeof last;
    CHECK(cudaMemcpyToSymbol(large_table, &last, sizeof last, offset));
    CHECK(cudaMemcpyFromSymbol(&read, large_table, sizeof read, offset));
    large_managed_table[(1 << 16) - 1] = 8;
    CHECK(cudaDeviceSynchronize());
    std::printf("ends of large variables %d %d\n", read, large_managed_table[(1 << 16) - 1]);
}

int main()
{
    tell_architecture();
    ask_for_clusters();
    copy_arrays();
    make_textures();
    fill_box();
    copy_in_a_graph();
    launch_in_a_graph();
    ask_a_capture();
    share_an_event();
    set_attributes();
    use_large_variables();
    return 0;
}
