// tests/gpu/facts/waits.cpp — which calls wait for the GPU: milliseconds of each while a kernel of 200 ms
// runs in a stream that has nothing to do with it.
#include <chrono>
#include <cstdio>
#include <functional>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

struct World {
    cudaStream_t busy = nullptr, other = nullptr;
    void* block = nullptr;
    void* host = nullptr;
    void* in_order = nullptr;
    void* unified = nullptr;
    cudaArray_t array = nullptr;
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    CUmemoryPool pool = nullptr;
    CUgraphExec executable = nullptr;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr reserved = 0;
    std::size_t granularity = 0;
};

constexpr std::size_t kBytes = std::size_t{4} << 20;

void make(World& world)
{
    CHECK(cudaMalloc(&world.block, kBytes));
    CHECK(cudaMallocHost(&world.host, kBytes));
    CHECK(cudaMallocAsync(&world.in_order, kBytes, world.other));
    CHECK(cudaMallocManaged(&world.unified, kBytes));
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    CHECK(cudaMallocArray(&world.array, &format, 512, 512));
    CHECK(cudaStreamCreateWithFlags(&world.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&world.event));
    const CUmemPoolProps pool = pool_on_device();
    require(cuMemPoolCreate(&world.pool, &pool));
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    require(cuGraphCreate(&graph, 0));
    require(cuGraphAddEmptyNode(&node, graph, nullptr, 0));
    require(cuGraphInstantiateWithFlags(&world.executable, graph, 0));
    require(cuGraphDestroy(graph));
    const CUmemAllocationProp properties = on_device();
    require(cuMemGetAllocationGranularity(&world.granularity, &properties,
                                          CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    require(cuMemCreate(&world.handle, world.granularity, &properties, 0));
    require(cuMemAddressReserve(&world.reserved, world.granularity, 0, 0, 0));
    CHECK(cudaDeviceSynchronize());
}

struct Call {
    const char* name;
    std::function<std::string(World&)> call;
};

void time(World& world, const char* name, const std::function<std::string(World&)>& call)
{
    keep_busy(200'000'000ULL, world.busy);
    const auto start = std::chrono::steady_clock::now();
    const std::string result = call(world);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    std::printf("%s: %s, %.1f ms%s\n", name, result.c_str(), took.count(),
                took.count() > 100 ? ": it WAITS" : "");
    CHECK(cudaDeviceSynchronize());
}

const Call kCalls[] = {
    {"cudaMalloc of 4 MiB",
     [](World&) {
         void* p = nullptr;
         return name_of(cudaMalloc(&p, kBytes));
     }},
    {"cudaMalloc of 1 GiB",
     [](World&) {
         void* p = nullptr;
         return name_of(cudaMalloc(&p, std::size_t{1} << 30));
     }},
    {"cudaMallocHost",
     [](World&) {
         void* p = nullptr;
         return name_of(cudaMallocHost(&p, kBytes));
     }},
    {"cudaMallocManaged",
     [](World&) {
         void* p = nullptr;
         return name_of(cudaMallocManaged(&p, kBytes));
     }},
    {"cudaMallocAsync in another stream",
     [](World& w) {
         void* p = nullptr;
         return name_of(cudaMallocAsync(&p, kBytes, w.other));
     }},
    {"cudaMemGetInfo",
     [](World&) {
         std::size_t a = 0, b = 0;
         return name_of(cudaMemGetInfo(&a, &b));
     }},
    {"cudaPointerGetAttributes",
     [](World& w) {
         cudaPointerAttributes found{};
         return name_of(cudaPointerGetAttributes(&found, w.block));
     }},
    {"cudaFreeAsync of its memory in another stream",
     [](World& w) { return name_of(cudaFreeAsync(w.in_order, w.other)); }},
    {"cudaEventDestroy", [](World& w) { return name_of(cudaEventDestroy(w.event)); }},
    {"cudaStreamDestroy of an idle one",
     [](World& w) { return name_of(cudaStreamDestroy(w.stream)); }},
    {"cuMemPoolTrimTo 0", [](World& w) { return name_of(cuMemPoolTrimTo(w.pool, 0)); }},
    {"cuMemPoolDestroy", [](World& w) { return name_of(cuMemPoolDestroy(w.pool)); }},
    {"cuGraphExecDestroy", [](World& w) { return name_of(cuGraphExecDestroy(w.executable)); }},
    {"cuMemMap and cuMemSetAccess",
     [](World& w) {
         const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                         CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
         const std::string mapped = name_of(cuMemMap(w.reserved, w.granularity, 0, w.handle, 0));
         return mapped + " " + name_of(cuMemSetAccess(w.reserved, w.granularity, &access, 1));
     }},
    {"cuMemUnmap", [](World& w) { return name_of(cuMemUnmap(w.reserved, w.granularity)); }},
    {"cuMemRelease", [](World& w) { return name_of(cuMemRelease(w.handle)); }},
    {"cuMemAddressFree",
     [](World& w) { return name_of(cuMemAddressFree(w.reserved, w.granularity)); }},
    {"cudaFreeArray", [](World& w) { return name_of(cudaFreeArray(w.array)); }},
    {"cudaFree of managed memory", [](World& w) { return name_of(cudaFree(w.unified)); }},
    {"cudaFreeHost", [](World& w) { return name_of(cudaFreeHost(w.host)); }},
    {"cudaFree", [](World& w) { return name_of(cudaFree(w.block)); }},
    {"cudaFree of nothing", [](World&) { return name_of(cudaFree(nullptr)); }},
};

} // namespace

void tell_waits()
{
    World world;
    CHECK(cudaStreamCreateWithFlags(&world.busy, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&world.other, cudaStreamNonBlocking));
    keep_busy(1, world.busy); // loads it
    make(world);
    for (const Call& call : kCalls)
        time(world, call.name, call.call);

    // cudaFreeAsync of what cudaMalloc gave: of which stream's work does it wait?
    void* block = nullptr;
    CHECK(cudaMalloc(&block, kBytes));
    time(world, "cudaFreeAsync of cudaMalloc's memory in another stream",
         [&](World& w) { return name_of(cudaFreeAsync(block, w.other)); });
    CHECK(cudaMallocAsync(&block, kBytes, world.other));
    time(world, "cudaFree of cudaMallocAsync's memory",
         [&](World&) { return name_of(cudaFree(block)); });
    CHECK(cudaMallocAsync(&block, kBytes, world.busy));
    time(world, "cudaFreeAsync of memory that the kernel's stream owns, in another stream",
         [&](World& w) { return name_of(cudaFreeAsync(block, w.other)); });
}

} // namespace facts
