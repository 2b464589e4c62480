// tests/programs/pool/pool_memory.cpp — memory that runs short.
//
// It asks how much there is, and goes on when there is none.
//
// Usage: pool_memory SCENE, on a device of 256 MiB.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // cuCtxCreate_v2
#include <initializer_list>
#include <thread>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

constexpr std::size_t kMuch = 100 * kMiB;

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

std::size_t free_bytes()
{
    std::size_t free = 0, total = 0;
    check(cuMemGetInfo_v2(&free, &total));
    return free;
}

void info()
{
    const std::size_t before = free_bytes();
    const CUdeviceptr blocks[] = {allocate(kWhole), allocate(kWhole), allocate(2 * kWhole)};
    std::printf("taken %zu MiB\n", (before - free_bytes()) / kMiB);
    tell("free", cuMemFree_v2(blocks[1]));
    std::printf("taken %zu MiB\n", (before - free_bytes()) / kMiB);
    tell("free", cuMemFree_v2(blocks[2]));
    tell("free", cuMemFree_v2(blocks[0]));
    std::printf("taken %zu MiB\n", (before - free_bytes()) / kMiB);
    std::size_t free = 1, total = 2;
    tell("only free", cuMemGetInfo_v2(&free, nullptr));
    tell("only total", cuMemGetInfo_v2(nullptr, &total));
    tell("nothing", cuMemGetInfo_v2(nullptr, nullptr));
    std::size_t device = 0;
    check(cuDeviceTotalMem_v2(&device, 0));
    std::printf("free %zu of %zu MiB, the device has %zu\n", free / kMiB, total / kMiB,
                device / kMiB);
    unsigned free_v1 = 0, total_v1 = 0;
    check(cuMemGetInfo(&free_v1, &total_v1));
    std::printf("old form: free %zu of %zu MiB\n", free_v1 / kMiB, total_v1 / kMiB);
}

// The card is full of what was freed; then each entry point that takes device memory asks for much.
void fill_with_cached()
{
    std::vector<CUdeviceptr> blocks(256 * kMiB / kWhole);
    for (CUdeviceptr& block : blocks)
        block = allocate(kWhole);
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
}

void device()
{
    fill_with_cached();
    CUdeviceptr block = 0;
    tell("cuMemAlloc", cuMemAlloc_v2(&block, kMuch));
    tell("free", cuMemFree_v2(block));
}

void pitch()
{
    fill_with_cached();
    CUdeviceptr block = 0;
    std::size_t row = 0;
    tell("cuMemAllocPitch", cuMemAllocPitch_v2(&block, &row, kMiB, 100, 16));
    tell("free", cuMemFree_v2(block));
}

void managed()
{
    fill_with_cached();
    CUdeviceptr block = 0;
    tell("cuMemAllocManaged", cuMemAllocManaged(&block, kMuch, CU_MEM_ATTACH_GLOBAL));
    tell("free", cuMemFree_v2(block));
}

void async()
{
    fill_with_cached();
    CUdeviceptr block = 0;
    tell("cuMemAllocAsync", cuMemAllocAsync(&block, kMuch, nullptr));
    tell("free", cuMemFreeAsync(block, nullptr));
}

void from_pool()
{
    fill_with_cached();
    CUdeviceptr block = 0;
    CUmemoryPool pool = nullptr;
    check(cuDeviceGetDefaultMemPool(&pool, 0));
    tell("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&block, kMuch, pool, nullptr));
    tell("free", cuMemFreeAsync(block, nullptr));
}

void array()
{
    fill_with_cached();
    CUarray made = nullptr;
    CUDA_ARRAY_DESCRIPTOR shape{};
    shape.Width = 8192;
    shape.Height = 3200;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    tell("cuArrayCreate", cuArrayCreate_v2(&made, &shape));
    tell("destroy", cuArrayDestroy(made));
}

CUDA_ARRAY3D_DESCRIPTOR cube()
{
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    shape.Width = 1024;
    shape.Height = 256;
    shape.Depth = 100;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    return shape;
}

void array3d()
{
    fill_with_cached();
    CUarray made = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR shape = cube();
    tell("cuArray3DCreate", cuArray3DCreate_v2(&made, &shape));
    tell("destroy", cuArrayDestroy(made));
}

void mipmap()
{
    fill_with_cached();
    CUmipmappedArray made = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR shape = cube();
    tell("cuMipmappedArrayCreate", cuMipmappedArrayCreate(&made, &shape, 3));
    tell("destroy", cuMipmappedArrayDestroy(made));
}

void take_physical()
{
    CUmemGenericAllocationHandle handle = 0;
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    tell("cuMemCreate", cuMemCreate(&handle, kMuch, &prop, 0));
    tell("release", cuMemRelease(handle));
}

void physical()
{
    fill_with_cached();
    take_physical();
}

// It is the first that the other thread asks for.
void physical_of_a_thread()
{
    fill_with_cached();
    std::thread(take_physical).join();
}

// Those of which the simulated GPU's take no memory: the test lets the first call fail for want of
// it.
void context()
{
    fill_with_cached();
    CUcontext made = nullptr;
    tell("cuCtxCreate", cuCtxCreate_v2(&made, 0, first_device()));
    if (made)
        tell("destroy", cuCtxDestroy_v2(made));
}

void module()
{
    fill_with_cached();
    CUmodule made = nullptr;
    tell("cuModuleLoadData", cuModuleLoadData(&made, "no real image"));
    if (made)
        tell("unload", cuModuleUnload(made));
}

void graph()
{
    fill_with_cached();
    CUgraph made = nullptr;
    CUgraphExec executable = nullptr;
    check(cuGraphCreate(&made, 0));
    tell("cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags(&executable, made, 0));
    if (executable)
        tell("destroy", cuGraphExecDestroy(executable));
    check(cuGraphDestroy(made));
}

// Much of everything, one after the other.
void each()
{
    CUdeviceptr block = 0;
    std::size_t row = 0;
    CUmemoryPool pool = nullptr;
    CUarray flat = nullptr, deep = nullptr;
    CUmipmappedArray levels = nullptr;
    CUmemGenericAllocationHandle handle = 0;
    CUDA_ARRAY_DESCRIPTOR shape{8192, 3200, CU_AD_FORMAT_FLOAT, 1};
    const CUDA_ARRAY3D_DESCRIPTOR volume = cube();
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    check(cuDeviceGetDefaultMemPool(&pool, 0));
    const auto freed = [&block](CUresult result) {
        if (result != CUDA_SUCCESS)
            return result;
        check(cuMemFree_v2(block));
        return cuCtxSynchronize(); // pools give back what they hold
    };
    tell("cuMemAlloc", freed(cuMemAlloc_v2(&block, kMuch)));
    tell("cuMemAllocPitch", freed(cuMemAllocPitch_v2(&block, &row, kMiB, 100, 16)));
    tell("cuMemAllocAsync", freed(cuMemAllocAsync(&block, kMuch, nullptr)));
    tell("cuMemAllocFromPoolAsync", freed(cuMemAllocFromPoolAsync(&block, kMuch, pool, nullptr)));
    tell("cuArrayCreate", cuArrayCreate_v2(&flat, &shape));
    if (flat)
        check(cuArrayDestroy(flat));
    tell("cuArray3DCreate", cuArray3DCreate_v2(&deep, &volume));
    if (deep)
        check(cuArrayDestroy(deep));
    tell("cuMipmappedArrayCreate", cuMipmappedArrayCreate(&levels, &volume, 3));
    if (levels)
        check(cuMipmappedArrayDestroy(levels));
    tell("cuMemCreate", cuMemCreate(&handle, kMuch, &prop, 0));
    if (handle)
        check(cuMemRelease(handle));
}

// What the driver's pool holds is taken once, however often it is handed out.
void async_again()
{
    CUdeviceptr block = 0;
    for (int i = 0; i < 3; ++i) {
        tell("cuMemAllocAsync", cuMemAllocAsync(&block, kMuch, nullptr));
        check(cuMemFreeAsync(block, nullptr));
    }
}

// More than there is: the driver's own answer, and what was kept is given back for nothing.
void too_much()
{
    const CUdeviceptr live = allocate(kWhole);
    check(cuMemFree_v2(allocate(kWhole)));
    CUdeviceptr block = 0x1234;
    tell("alloc", cuMemAlloc_v2(&block, 300 * kMiB)); // MARK too_much
    std::printf("null %d\n", block == 0);
    tell("alloc", cuMemAlloc_v2(&block, 200 * kMiB));
    tell("free", cuMemFree_v2(block));
    tell("free", cuMemFree_v2(live));
}

// Up to the last: how much could be had, in steps of kWhole.
void all()
{
    std::size_t blocks = 0;
    CUdeviceptr block = 0;
    CUresult result = CUDA_SUCCESS;
    while ((result = cuMemAlloc_v2(&block, kWhole)) == CUDA_SUCCESS)
        ++blocks;
    std::size_t free = 0, total = 0, device = 0;
    check(cuMemGetInfo_v2(&free, &total));
    check(cuDeviceTotalMem_v2(&device, 0));
    std::size_t only_free = 0;
    check(cuMemGetInfo_v2(&only_free, nullptr));
    std::printf("%zu blocks, then %d; free %zu and %zu of %zu MiB, the device has %zu\n", blocks,
                static_cast<int>(result), free / kMiB, only_free / kMiB, total / kMiB,
                device / kMiB);
}

// Frees a few large blocks, and uses some of them again.
void churn()
{
    std::vector<CUdeviceptr> blocks(6);
    for (int round = 0; round < 3; ++round) {
        for (CUdeviceptr& block : blocks)
            block = allocate(kWhole);
        for (const CUdeviceptr block : blocks)
            check(cuMemFree_v2(block));
    }
    std::printf("done\n");
}

void one_after_the_other(std::initializer_list<std::size_t> sizes)
{
    for (const std::size_t bytes : sizes) {
        check(cuMemFree_v2(allocate(bytes)));
        check(cuCtxSynchronize()); // it can be used again
    }
}

// Whether the second can have what the first had is the knobs' business.
void growing()
{
    one_after_the_other({9 * kMiB, 10 * kMiB});
}

void shrinking()
{
    one_after_the_other({24 * kMiB, 4 * kMiB});
}

void changing()
{
    for (int i = 0; i < 3; ++i)
        one_after_the_other({20 * kMiB, 30 * kMiB, 40 * kMiB});
    one_after_the_other({50 * kMiB});
}

const Scene kScenes[] = {
    {"info", info},
    {"device", device},
    {"pitch", pitch},
    {"managed", managed},
    {"async", async},
    {"from_pool", from_pool},
    {"array", array},
    {"array3d", array3d},
    {"mipmap", mipmap},
    {"physical", physical},
    {"physical_of_a_thread", physical_of_a_thread},
    {"context", context},
    {"module", module},
    {"graph", graph},
    {"each", each},
    {"growing", growing},
    {"shrinking", shrinking},
    {"changing", changing},
    {"async_again", async_again},
    {"too_much", too_much},
    {"all", all},
    {"churn", churn},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
