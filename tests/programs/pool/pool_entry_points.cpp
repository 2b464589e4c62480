// tests/programs/pool/pool_entry_points.cpp — functions that only a pool has to know of.
//
// They are called in all their forms.
//
// Usage: pool_entry_points SCENE. What the toolkit's headers are too old for ends with status 4.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cstdint>

#include "tests/programs/scenes.hpp"

namespace {

[[maybe_unused, noreturn]] void too_old()
{
    std::exit(4);
}

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

template <class Params>
Params kernel_launch()
{
    CUmodule module = nullptr;
    Params launch{};
    check(cuModuleLoadData(&module, "any image"));
    check(cuModuleGetFunction(&launch.func, module, "any kernel"));
    launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
    launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
    return launch;
}

CUgraphExec executable_of(CUgraph graph)
{
    CUgraphExec executable = nullptr;
    check(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

void graph_updates()
{
    const CUdeviceptr block = allocate(4096);
    CUgraph graph = nullptr;
    CUgraphNode fill = nullptr;
    CUDA_MEMSET_NODE_PARAMS bytes{};
    bytes.dst = block;
    bytes.elementSize = 1;
    bytes.width = 4096;
    bytes.height = 1;
    check(cuGraphCreate(&graph, 0));
    check(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &bytes, primary_context()));
    const CUgraphExec executable = executable_of(graph);
    CUgraphNode wrong = nullptr;
    CUgraphExecUpdateResult result{};
    check(cuGraphExecUpdate(executable, graph, &wrong, &result));
    check(cuGraphExecMemsetNodeSetParams(executable, fill, &bytes, primary_context()));
#if CUDA_VERSION >= 12020
    CUgraphExecUpdateResultInfo info{};
    check(cuGraphExecUpdate_v2(executable, graph, &info));
    CUgraphNodeParams any{};
    any.type = CU_GRAPH_NODE_TYPE_MEMSET;
    any.memset.dst = block;
    any.memset.elementSize = 1;
    any.memset.width = 4096;
    any.memset.height = 1;
    any.memset.ctx = primary_context();
    check(cuGraphExecNodeSetParams(executable, fill, &any));
#else
    too_old();
#endif
    check(cuGraphExecDestroy(executable));
    check(cuGraphDestroy(graph));
    check(cuMemFree_v2(block));
}

void graph_parameters()
{
    const CUdeviceptr blocks[] = {allocate(4096), allocate(4096)};
    const CUcontext context = primary_context();
    CUgraph graph = nullptr;
    CUgraph inner = nullptr;
    CUgraphNode nodes[4]{};
    const auto launch = kernel_launch<CUDA_KERNEL_NODE_PARAMS_v1>();
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = blocks[0];
    copy.dstDevice = blocks[1];
    copy.WidthInBytes = 4096;
    copy.Height = copy.Depth = 1;
    CUstreamBatchMemOpParams write{};
    write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    write.writeValue.address = blocks[0];
    CUDA_BATCH_MEM_OP_NODE_PARAMS writes{};
    writes.ctx = context;
    writes.count = 1;
    writes.paramArray = &write;
    check(cuGraphCreate(&graph, 0));
    check(cuGraphCreate(&inner, 0));
    check(cuGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &launch));
    check(cuGraphAddMemcpyNode(&nodes[1], graph, nullptr, 0, &copy, context));
    check(cuGraphAddChildGraphNode(&nodes[2], graph, nullptr, 0, inner));
    check(cuGraphAddBatchMemOpNode(&nodes[3], graph, nullptr, 0, &writes));
    const CUgraphExec executable = executable_of(graph);
    check(cuGraphExecKernelNodeSetParams(executable, nodes[0], &launch));
    check(cuGraphExecMemcpyNodeSetParams(executable, nodes[1], &copy, context));
    check(cuGraphExecChildGraphNodeSetParams(executable, nodes[2], inner));
    check(cuGraphExecBatchMemOpNodeSetParams(executable, nodes[3], &writes));
#if CUDA_VERSION >= 12000
    const auto newer_launch = kernel_launch<CUDA_KERNEL_NODE_PARAMS_v2>();
    check(cuGraphExecKernelNodeSetParams_v2(executable, nodes[0], &newer_launch));
#else
    too_old();
#endif
    check(cuGraphExecDestroy(executable));
    check(cuGraphDestroy(inner));
    check(cuGraphDestroy(graph));
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
}

CUstream new_stream()
{
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

// While it is captured, and after: memory is kept only after.
template <class Begin, class End>
void capture(Begin begin, End end)
{
    CUgraph graph = nullptr;
    check(cuMemFree_v2(allocate(4096)));
    check(begin());
    check(end(&graph));
    check(cuMemFree_v2(allocate(4096)));
    if (graph)
        check(cuGraphDestroy(graph));
}

void captures()
{
    const CUstream stream = new_stream();
    const auto end = [stream](CUgraph* graph) { return cuStreamEndCapture(stream, graph); };
    capture([stream] { return cuStreamBeginCapture(stream); }, end);
    capture([stream] { return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED); },
            end);
#if CUDA_VERSION >= 12030
    CUgraph graph = nullptr;
    check(cuGraphCreate(&graph, 0));
    capture(
        [stream, graph] {
            return cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                               CU_STREAM_CAPTURE_MODE_GLOBAL);
        },
        [stream](CUgraph*) {
            CUgraph same = nullptr;
            return cuStreamEndCapture(stream, &same);
        });
    check(cuGraphDestroy(graph));
#else
    too_old();
#endif
    check(cuStreamDestroy_v2(stream));
}

// On the thread's own default stream, as nvcc --default-stream=per-thread has it.
void captures_ptsz()
{
    const auto end = [](CUgraph* graph) { return cuStreamEndCapture_ptsz(nullptr, graph); };
    capture([] { return cuStreamBeginCapture_ptsz(nullptr); }, end);
    capture([] { return cuStreamBeginCapture_v2_ptsz(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL); },
            end);
#if CUDA_VERSION >= 12030
    CUgraph graph = nullptr;
    check(cuGraphCreate(&graph, 0));
    capture(
        [graph] {
            return cuStreamBeginCaptureToGraph_ptsz(nullptr, graph, nullptr, nullptr, 0,
                                                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
        },
        [](CUgraph*) {
            CUgraph same = nullptr;
            return cuStreamEndCapture_ptsz(nullptr, &same);
        });
    check(cuGraphDestroy(graph));
#else
    too_old();
#endif
}

void streams()
{
    check(cuStreamDestroy(new_stream()));
    check(cuStreamDestroy_v2(new_stream()));
}

void synchronisations()
{
    check(cuMemFree_v2(allocate(4096)));
    check(cuCtxSynchronize());
#if CUDA_VERSION >= 13000
    check(cuCtxSynchronize_v2(primary_context()));
#endif
    check(cuMemFree_v2(allocate(4096)));
}

void questions()
{
    unsigned free_v1 = 0, total_v1 = 0, bytes_v1 = 0;
    std::size_t free = 0, total = 0, bytes = 0;
    check(cuMemGetInfo(&free_v1, &total_v1));
    check(cuMemGetInfo_v2(&free, &total));
    check(cuDeviceTotalMem(&bytes_v1, 0));
    check(cuDeviceTotalMem_v2(&bytes, 0));
    CUdeviceptr_v1 low = 0, low_base = 0;
    check(cuMemAlloc(&low, 4096));
    check(cuMemGetAddressRange(&low_base, &bytes_v1, low + 8));
    check(cuMemFree(low));
    const CUdeviceptr block = allocate(4096);
    CUdeviceptr base = 0;
    check(cuMemGetAddressRange_v2(&base, &bytes, block + 8));
    CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_RANGE_START_ADDR;
    void* out = &base;
    const unsigned on = 1;
    check(cuPointerGetAttribute(&base, attribute, block));
    check(cuPointerGetAttributes(1, &attribute, &out, block));
    check(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
    check(cuMemFree_v2(block));
}

void code()
{
    CUmodule module = nullptr;
    check(cuModuleLoad(&module, "/proc/self/exe"));
    check(cuModuleLoadData(&module, "any image"));
    check(cuModuleLoadDataEx(&module, "any image", 0, nullptr, nullptr));
    check(cuModuleLoadFatBinary(&module, "any image"));
#if CUDA_VERSION >= 12000
    CUlibrary library = nullptr;
    check(cuLibraryLoadData(&library, "any image", nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cuLibraryLoadFromFile(&library, "/proc/self/exe", nullptr, nullptr, 0, nullptr, nullptr,
                                0));
#else
    too_old();
#endif
}

const Scene kScenes[] = {
    {"graph_updates", graph_updates},
    {"graph_parameters", graph_parameters},
    {"captures", captures},
    {"captures_ptsz", captures_ptsz},
    {"streams", streams},
    {"synchronisations", synchronisations},
    {"questions", questions},
    {"code", code},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
