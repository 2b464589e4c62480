// tests/programs/memory/owners.cpp — what owns memory: pools, contexts, graphs, tiles.
//
// Linked with -lcuda. Each scene leaves one thing open and closes another of its kind.
//
// Usage: owners SCENE. A scene that the toolkit's headers are too old for ends with status 4.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // the old forms are what is traced here
#include "tests/programs/memory/shareable.hpp"

namespace {

void pools()
{
    const CUmemPoolProps props = pool_props();
    CUmemoryPool pools[2];
    for (CUmemoryPool& pool : pools)
        check(cuMemPoolCreate(&pool, &props)); // MARK pool
    CUdeviceptr block = 0;
    check(cuDeviceSetMemPool(0, pools[1]));
    check(cuMemAllocAsync(&block, kBytes, nullptr));
    check(cuMemFreeAsync(block, nullptr));
    check(cuStreamSynchronize(nullptr));
    check(cuMemPoolTrimTo(pools[1], 0));
    check(cuMemPoolDestroy(pools[0]));
}

// Memory on the host, and from a pool: it is the host's that is full, not the device.
void host_pool()
{
#if CUDA_VERSION >= 13000
    CUmemLocation host{CU_MEM_LOCATION_TYPE_HOST, 0};
    CUmemoryPool pool = nullptr;
    check(cuMemGetDefaultMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
    check(cuMemSetMemPool(&host, CU_MEM_ALLOCATION_TYPE_PINNED, pool));
    check(cuMemGetMemPool(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
    CUdeviceptr block = 0;
    check(cuMemAllocFromPoolAsync(&block, kBytes, pool, nullptr)); // MARK host_pool
#else
    too_old();
#endif
}

CUcontext context_of_version(int version)
{
    CUcontext context = nullptr;
    CUexecAffinityParam affinity{CU_EXEC_AFFINITY_TYPE_SM_COUNT, {{1}}};
    if (version == 1)
        check(cuCtxCreate(&context, 0, 0)); // MARK context_v1
    else if (version == 2)
        check(cuCtxCreate_v2(&context, 0, 0)); // MARK context_v2
    else if (version == 3)
        check(cuCtxCreate_v3(&context, &affinity, 0, 0, 0)); // MARK context_v3
#if CUDA_VERSION >= 12050
    else
        check(cuCtxCreate_v4(&context, nullptr, 0, 0)); // MARK context_v4
#else
    else
        too_old();
#endif
    return context;
}

template <int version>
void context()
{
    const CUcontext closed = context_of_version(version);
    context_of_version(version);
    check(cuCtxDestroy_v2(closed));
}

// Its memory is its device's primary context's, and outlives it.
void green_context()
{
#if CUDA_VERSION >= 12040
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    check(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    check(cuDevResourceGenerateDesc(&description, &all, 1));
    CUgreenCtx greens[2];
    for (CUgreenCtx& green : greens)
        check(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM)); // MARK green
    CUcontext of_green = nullptr;
    check(cuCtxFromGreenCtx(&of_green, greens[0]));
    check(cuCtxSetCurrent(of_green));
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, kBytes)); // MARK in_green
    check(cuGreenCtxDestroy(greens[0]));
#else
    too_old();
#endif
}

CUgraph empty_graph()
{
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    check(cuGraphCreate(&graph, 0));
    check(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    return graph;
}

// What instantiates a graph, in each form; of each, one is left and one destroyed.
void graph_execs()
{
    const CUgraph graph = empty_graph();
    for (int i = 0; i < 2; ++i) {
        CUgraphExec execs[5]{};
        check(cuGraphInstantiate(&execs[0], graph, nullptr, nullptr, 0));    // MARK exec_v1
        check(cuGraphInstantiate_v2(&execs[1], graph, nullptr, nullptr, 0)); // MARK exec_v2
        check(cuGraphInstantiateWithFlags(&execs[2], graph, 0));             // MARK exec_flags
#if CUDA_VERSION >= 12000
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        check(cuGraphInstantiateWithParams(&execs[3], graph, &params));      // MARK exec_params
        check(cuGraphInstantiateWithParams_ptsz(&execs[4], graph, &params)); // MARK exec_ptsz
#endif
        for (const CUgraphExec exec : execs)
            if (i == 1 && exec)
                check(cuGraphExecDestroy(exec));
    }
}

CUDA_MEM_ALLOC_NODE_PARAMS node_params()
{
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps = pool_props();
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    params.bytesize = kBytes;
    return params;
}

// The graph's address is allocated by each launch, and the program may free it after each.
void graph_memory()
{
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params = node_params();
    check(cuGraphCreate(&graph, 0));
    check(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params)); // MARK memory_node
    check(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int launch = 0; launch < 2; ++launch) {
        check(cuGraphLaunch(exec, nullptr));
        check(cuMemFreeAsync(params.dptr, nullptr));
        check(cuStreamSynchronize(nullptr));
    }
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
}

// Both forms of the launch leave their memory: one is freed behind the graph, the other is not.
void graph_launches()
{
    for (int form = 0; form < 2; ++form) {
        CUgraph graph = nullptr;
        CUgraphNode node = nullptr;
        CUgraphExec exec = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS params = node_params();
        check(cuGraphCreate(&graph, 0));
        check(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params)); // MARK launched_node
        check(cuGraphInstantiateWithFlags(&exec, graph, 0));
        check(form == 0 ? cuGraphLaunch(exec, nullptr) : cuGraphLaunch_ptsz(exec, nullptr));
        check(cuCtxSynchronize());
        check(cuGraphExecDestroy(exec));
        check(cuGraphDestroy(graph));
        if (form == 0)
            check(cuMemFree_v2(params.dptr));
    }
}

// Views of one array, of each kind one that is destroyed and one that is not.
void views()
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor{64, 64, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    check(cuArray3DCreate_v2(&resource.res.array.hArray, &descriptor));
    for (int i = 0; i < 2; ++i) {
        CUDA_TEXTURE_DESC how{};
        CUtexObject texture = 0;
        CUsurfObject surface = 0;
        check(cuTexObjectCreate(&texture, &resource, &how, nullptr)); // MARK texture
        check(cuSurfObjectCreate(&surface, &resource));               // MARK surface
        if (i == 1)
            continue;
        check(cuTexObjectDestroy(texture));
        check(cuSurfObjectDestroy(surface));
    }
    check(cuArrayDestroy(resource.res.array.hArray));
}

void graph_nodes()
{
#if CUDA_VERSION >= 12030
    CUgraph graph = nullptr;
    CUgraphNode nodes[3]{};
    check(cuGraphCreate(&graph, 0));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    params.alloc.poolProps = node_params().poolProps;
    params.alloc.bytesize = kBytes;
    check(cuGraphAddNode(&nodes[0], graph, nullptr, 0, &params));             // MARK node_v1
    check(cuGraphAddNode_v2(&nodes[1], graph, nullptr, nullptr, 0, &params)); // MARK node_v2
    CUgraphNodeParams empty{};
    empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
    check(cuGraphAddNode_v2(&nodes[2], graph, nullptr, nullptr, 0, &empty));
#else
    too_old();
#endif
}

// A tile of a sparse array keeps the physical memory: it is back when the tile is unmapped.
template <auto map>
void tiles()
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor{1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SPARSE};
    CUarray array = nullptr;
    check(cuArray3DCreate_v2(&array, &descriptor)); // MARK sparse
    CUDA_ARRAY_SPARSE_PROPERTIES properties{};
    check(cuArrayGetSparseProperties(&properties, array));
    for (unsigned row = 0; row < 2; ++row) {
        CUmemAllocationProp prop{};
        prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        prop.allocFlags.usage = CU_MEM_CREATE_USAGE_TILE_POOL;
        CUmemGenericAllocationHandle memory = 0;
        check(cuMemCreate(&memory, kPhysical, &prop, 0)); // MARK tile_memory
        CUarrayMapInfo info{};
        info.resourceType = CU_RESOURCE_TYPE_ARRAY;
        info.resource.array = array;
        info.subresourceType = CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL;
        info.subresource.sparseLevel.offsetY = row * properties.tileExtent.height;
        info.subresource.sparseLevel.extentWidth = properties.tileExtent.width;
        info.subresource.sparseLevel.extentHeight = properties.tileExtent.height;
        info.subresource.sparseLevel.extentDepth = 1;
        info.memOperationType = CU_MEM_OPERATION_TYPE_MAP;
        info.memHandleType = CU_MEM_HANDLE_TYPE_GENERIC;
        info.memHandle.memHandle = memory;
        info.deviceBitMask = 1;
        check(map(&info, 1, nullptr));
        check(cuMemRelease(memory));
        if (row == 0)
            continue;
        info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
        info.memHandle.memHandle = 0;
        check(map(&info, 1, nullptr));
    }
    check(cuStreamSynchronize(nullptr));
}

const Scene kScenes[] = {
    {"pools", pools},
    {"host_pool", host_pool},
    {"context_v1", context<1>},
    {"context_v2", context<2>},
    {"context_v3", context<3>},
    {"context_v4", context<4>},
    {"green_context", green_context},
    {"graph_execs", graph_execs},
    {"graph_memory", graph_memory},
    {"graph_launches", graph_launches},
    {"graph_nodes", graph_nodes},
    {"views", views},
    {"tiles", tiles<cuMemMapArrayAsync>},
    {"tiles_ptsz", tiles<cuMemMapArrayAsync_ptsz>},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
