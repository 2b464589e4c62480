// tests/programs/pool/pool_captures.cpp — memory while a stream is captured.
//
// Graphs hold its address afterwards.
//
// Usage: pool_captures SCENE.
#include <thread>

#include "tests/programs/scenes.hpp"

namespace {

CUstream stream;

CUdeviceptr allocate(std::size_t bytes = kWhole)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

const struct {
    const char* name;
    CUstreamCaptureMode mode;
} kModes[] = {
    {"global", CU_STREAM_CAPTURE_MODE_GLOBAL},
    {"thread local", CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    {"relaxed", CU_STREAM_CAPTURE_MODE_RELAXED},
};

// Calls `inside` while a stream is captured in each mode, and again when it is over.
template <class Inside>
void during_captures(Inside inside)
{
    for (const auto& [name, mode] : kModes) {
        std::printf("%s\n", name);
        CUgraph graph = nullptr;
        tell("begin", cuStreamBeginCapture_v2(stream, mode));
        inside();
        tell("end", cuStreamEndCapture(stream, &graph));
        if (graph)
            check(cuGraphDestroy(graph));
        inside();
    }
}

void free_inside()
{
    CUdeviceptr blocks[6];
    for (CUdeviceptr& block : blocks)
        block = allocate();
    const CUdeviceptr* next = blocks;
    during_captures([&] { tell("free", cuMemFree_v2(*next++)); });
}

void allocate_inside()
{
    check(cuMemFree_v2(allocate())); // there is memory in the cache
    during_captures([] {
        CUdeviceptr block = 0x1234;
        const CUresult result = cuMemAlloc_v2(&block, kWhole);
        tell("alloc", result);
        if (result == CUDA_SUCCESS)
            tell("free", cuMemFree_v2(block));
        else
            std::printf("null %d\n", block == 0);
    });
}

// A thread that captures nothing, beside one that does.
void other_thread()
{
    const CUcontext context = primary_context();
    check(cuMemFree_v2(allocate()));
    during_captures([context] {
        std::thread([context] {
            CUdeviceptr block = 0;
            check(cuCtxSetCurrent(context));
            const CUresult result = cuMemAlloc_v2(&block, kWhole);
            tell("alloc", result);
            if (result == CUDA_SUCCESS)
                tell("free", cuMemFree_v2(block));
        }).join();
    });
}

void free_async_inside()
{
    CUdeviceptr blocks[6];
    for (CUdeviceptr& block : blocks)
        block = allocate();
    const CUdeviceptr* next = blocks;
    during_captures([&] { tell("free async", cuMemFreeAsync(*next++, stream)); });
    for (const CUdeviceptr block : blocks)
        tell("free", cuMemFree_v2(block));
}

// The stream goes while it is captured: nothing is captured after that.
void stream_destroyed()
{
    CUstream captured = nullptr;
    check(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    check(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
    tell("destroy", cuStreamDestroy_v2(captured));
    tell("free", cuMemFree_v2(allocate()));
}

CUgraphExec fill_graph(CUdeviceptr block, std::size_t bytes)
{
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    check(cuMemsetD8Async(block, 0xee, bytes, stream));
    check(cuStreamEndCapture(stream, &graph));
    check(cuGraphInstantiateWithFlags(&executable, graph, 0)); // MARK instantiate
    check(cuGraphDestroy(graph));
    return executable;
}

// A graph that can be launched holds addresses that the program freed: nobody else may have them
// that the driver would not have given them.
void graph_holds()
{
    const CUdeviceptr held = allocate();
    const CUgraphExec executable = fill_graph(held, kWhole);
    tell("free", cuMemFree_v2(held));
    const CUdeviceptr later = allocate();
    tell("free of a later block", cuMemFree_v2(later));
    tell("destroy", cuGraphExecDestroy(executable));
    const CUdeviceptr after = allocate();
    tell("free", cuMemFree_v2(after));
}

// With VRAMSCOPE_POOL=split the address stays the graph's for as long as it can be launched.
void graph_writes()
{
    const CUdeviceptr held = allocate(kPart);
    const CUgraphExec executable = fill_graph(held, kPart);
    tell("free", cuMemFree_v2(held));
    check(cuCtxSynchronize());
    CUdeviceptr blocks[4];
    bool apart = true;
    for (CUdeviceptr& block : blocks) {
        block = allocate(kPart);
        apart = apart && block != held;
    }
    std::printf("apart %d\n", apart);
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
    tell("destroy", cuGraphExecDestroy(executable));
    check(cuCtxSynchronize());
    apart = true;
    for (CUdeviceptr& block : blocks) {
        block = allocate(kPart);
        apart = apart && block != held;
    }
    std::printf("apart when it is gone %d\n", apart);
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
}

// A graph writes to memory that is gone: from then on the driver answers nothing but that.
void broken()
{
    const CUdeviceptr held = allocate();
    const CUdeviceptr before[] = {allocate(), allocate()};
    const CUgraphExec executable = fill_graph(held, kWhole);
    const CUdeviceptr after[] = {allocate(), allocate()};
    check(cuMemFree_v2(held));
    check(cuMemFree_v2(after[0]));
    check(cuGraphLaunch(executable, stream));
    tell("free", cuMemFree_v2(before[0]));
    tell("free", cuMemFree_v2(after[1]));
    CUdeviceptr block = 0x1234;
    tell("alloc", cuMemAlloc_v2(&block, kWhole));
    tell("alloc", cuMemAlloc_v2(&block, kPart));
    std::printf("null %d\n", block == 0);
    tell("synchronise", cuCtxSynchronize());
    tell("free", cuMemFree_v2(before[1]));
}

const Scene kScenes[] = {
    {"free_inside", free_inside},           {"allocate_inside", allocate_inside},
    {"other_thread", other_thread},         {"free_async_inside", free_async_inside},
    {"stream_destroyed", stream_destroyed}, {"graph_holds", graph_holds},
    {"graph_writes", graph_writes},         {"broken", broken},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return play_scene(kScenes, argc, argv);
}
