// tests/programs/memory/reach_driver.cpp — blocks to whose holders the driver leads too, blocks that it
// has mapped, and an array, with a texture or without: by an argument, "registry", "mapped",
// "texture" or "array".
//
// Prints "BYTES NAME" for each block and "ready"; ends with its stdin. What is true of each name is
// in tests/e2e/live/reach_test.py.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

constexpr std::size_t kChunk = 2 << 20; // of physical memory

CUcontext context;
std::size_t next_bytes = 4096;

[[gnu::noinline]] CUdeviceptr allocate(const char* name)
{
    next_bytes += 512;
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, next_bytes));
    std::printf("%zu %s\n", next_bytes, name);
    return block;
}

struct Tensor {
    CUdeviceptr data;
    std::size_t runs = 0;
};

// All blocks are in it, as in a driver's books, and a callback's argument leads to it.
struct Engine {
    std::vector<std::unique_ptr<Tensor>> tensors;

    [[gnu::noinline]] void load()
    {
        for (int at = 0; at < 10; ++at)
            tensors.push_back(std::make_unique<Tensor>(
                Tensor{allocate(("tensor_" + std::to_string(at)).c_str())}));
    }
    [[gnu::noinline]] void capture()
    {
        CUgraph graph = nullptr;
        check(cuGraphCreate(&graph, 0));
        CUDA_HOST_NODE_PARAMS call{};
        call.fn = [](void* engine) { ++static_cast<Engine*>(engine)->tensors.front()->runs; };
        call.userData = this;
        CUgraphNode node = nullptr;
        check(cuGraphAddHostNode(&node, graph, nullptr, 0, &call));
        CUgraphExec executable = nullptr;
        check(cuGraphInstantiateWithFlags(&executable, graph, 0));
    }
};

// Their handles are released: what is mapped is known by its address alone.
[[gnu::noinline]] void map_chunk(CUdeviceptr at, std::size_t chunks, const char* name)
{
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle = 0;
    check(cuMemCreate(&handle, chunks * kChunk, &kind, 0));
    check(cuMemMap(at, chunks * kChunk, 0, handle, 0));
    check(cuMemRelease(handle));
    std::printf("%zu %s\n", chunks * kChunk, name);
}

[[gnu::noinline]] CUdeviceptr reserve(std::size_t chunks)
{
    CUdeviceptr at = 0;
    check(cuMemAddressReserve(&at, chunks * kChunk, 0, 0, 0));
    return at;
}

[[gnu::noinline]] void wipe_stack()
{
    char words[64 << 10];
    std::memset(words, 0, sizeof words);
    asm volatile("" : : "r"(words) : "memory");
}

} // namespace

// Not static: nothing reads them, and the compiler would leave them out.
Engine* engine;
CUdeviceptr grown, inside;
CUtexObject texture;
CUdeviceptr* managed;
std::list<CUdeviceptr> chain;

namespace {

[[gnu::noinline]] void hold_mapped()
{
    grown = reserve(3); // as what grows in place: one address for both
    map_chunk(grown, 1, "first_of_a_reservation");
    map_chunk(grown + kChunk, 2, "second_of_a_reservation");
    const CUdeviceptr other = reserve(4);
    map_chunk(other, 4, "by_an_address_inside");
    inside = other + 4096;
    map_chunk(reserve(5), 5, "forgotten");
    CUdeviceptr memory = 0;
    check(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
    std::puts("4096 managed");
    managed = reinterpret_cast<CUdeviceptr*>(memory);
    managed[3] = allocate("in_managed_memory");
    for (int at = 0; at < 200; ++at)
        chain.push_back(at == 100 ? allocate("deep_in_a_list") : 0);
    (void)allocate("dropped");
}

// By its texture, which is held, the driver tells the array.
[[gnu::noinline]] void make_array(bool viewed)
{
    const CUDA_ARRAY3D_DESCRIPTOR square{64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    check(cuArray3DCreate_v2(&resource.res.array.hArray, &square));
    std::puts("16384 array");
    if (!viewed)
        return;
    const CUDA_TEXTURE_DESC how{};
    check(cuTexObjectCreate(&texture, &resource, &how, nullptr));
}

} // namespace

int main(int count, char** arguments)
{
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    const std::string_view what = count > 1 ? arguments[1] : "";
    if (what == "registry") {
        engine = new Engine;
        engine->load();
        engine->capture();
    } else if (what == "mapped") {
        hold_mapped();
    } else {
        make_array(what == "texture");
    }
    wipe_stack();
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    _exit(0);
}
