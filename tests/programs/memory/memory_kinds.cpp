// tests/programs/memory/memory_kinds.cpp — two blocks of one kind, of which one is freed.
//
// Linked with -lcuda.
//
// Usage: memory_kinds KIND. What a test cannot know beforehand (a pitch) goes to stdout.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // the old forms are what is traced here

#include "tests/programs/scenes.hpp"

namespace {

constexpr unsigned kBytes = 3000;
constexpr std::size_t kPage = 4096;

void device_v1()
{
    CUdeviceptr_v1 blocks[2];
    for (CUdeviceptr_v1& block : blocks)
        check(cuMemAlloc(&block, kBytes)); // MARK device_v1
    check(cuMemFree(blocks[0]));
}

void device_v2()
{
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        check(cuMemAlloc_v2(&block, kBytes)); // MARK device_v2
    check(cuMemFree_v2(blocks[0]));
}

void pitch_v1()
{
    CUdeviceptr_v1 blocks[2];
    unsigned pitch = 0;
    for (CUdeviceptr_v1& block : blocks)
        check(cuMemAllocPitch(&block, &pitch, 100, 7, 4)); // MARK pitch_v1
    check(cuMemFree(blocks[0]));
    std::printf("%u\n", pitch);
}

void pitch_v2()
{
    CUdeviceptr blocks[2];
    std::size_t pitch = 0;
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocPitch_v2(&block, &pitch, 100, 7, 4)); // MARK pitch_v2
    check(cuMemFree_v2(blocks[0]));
    std::printf("%zu\n", pitch);
}

void managed()
{
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocManaged(&block, kBytes, CU_MEM_ATTACH_GLOBAL)); // MARK managed
    check(cuMemFree_v2(blocks[0]));
}

void host_alloc()
{
    void* blocks[2];
    for (void*& block : blocks)
        check(cuMemHostAlloc(&block, kBytes, CU_MEMHOSTALLOC_PORTABLE)); // MARK host_alloc
    check(cuMemFreeHost(blocks[0]));
}

void host_v1()
{
    void* blocks[2];
    for (void*& block : blocks)
        check(cuMemAllocHost(&block, kBytes)); // MARK host_v1
    check(cuMemFreeHost(blocks[0]));
}

void host_v2()
{
    void* blocks[2];
    for (void*& block : blocks)
        check(cuMemAllocHost_v2(&block, kBytes)); // MARK host_v2
    check(cuMemFreeHost(blocks[0]));
}

alignas(kPage) char memory[4][kPage];

void register_v1()
{
    for (int i = 0; i < 2; ++i)
        check(cuMemHostRegister(memory[i], kPage, 0)); // MARK register_v1
    check(cuMemHostUnregister(memory[0]));
}

void register_v2()
{
    for (int i = 2; i < 4; ++i)
        check(cuMemHostRegister_v2(memory[i], kPage, 0)); // MARK register_v2
    check(cuMemHostUnregister(memory[2]));
}

void array_v1()
{
    const CUDA_ARRAY_DESCRIPTOR_v1 shape{64, 16, CU_AD_FORMAT_FLOAT, 2};
    CUarray arrays[2];
    for (CUarray& array : arrays)
        check(cuArrayCreate(&array, &shape)); // MARK array_v1
    check(cuArrayDestroy(arrays[0]));
}

void array_v2()
{
    const CUDA_ARRAY_DESCRIPTOR shape{64, 16, CU_AD_FORMAT_FLOAT, 2};
    CUarray arrays[2];
    for (CUarray& array : arrays)
        check(cuArrayCreate_v2(&array, &shape)); // MARK array_v2
    check(cuArrayDestroy(arrays[0]));
}

void array3d_v1()
{
    const CUDA_ARRAY3D_DESCRIPTOR_v1 shape{64, 16, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    CUarray arrays[2];
    for (CUarray& array : arrays)
        check(cuArray3DCreate(&array, &shape)); // MARK array3d_v1
    check(cuArrayDestroy(arrays[0]));
}

void array3d_v2()
{
    const CUDA_ARRAY3D_DESCRIPTOR shape{64, 16, 4, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
    CUarray arrays[2];
    for (CUarray& array : arrays)
        check(cuArray3DCreate_v2(&array, &shape)); // MARK array3d_v2
    check(cuArrayDestroy(arrays[0]));
}

void mipmap()
{
    const CUDA_ARRAY3D_DESCRIPTOR shape{64, 64, 0, CU_AD_FORMAT_HALF, 1, 0};
    CUmipmappedArray arrays[2];
    for (CUmipmappedArray& array : arrays)
        check(cuMipmappedArrayCreate(&array, &shape, 3)); // MARK mipmap
    check(cuMipmappedArrayDestroy(arrays[0]));
}

void async()
{
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocAsync(&block, kBytes, nullptr)); // MARK async
    check(cuMemFreeAsync(blocks[0], nullptr));
}

void async_ptsz()
{
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocAsync_ptsz(&block, kBytes, nullptr)); // MARK async_ptsz
    check(cuMemFreeAsync_ptsz(blocks[0], nullptr));
}

CUmemoryPool new_pool()
{
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    check(cuMemPoolCreate(&pool, &props));
    return pool;
}

void pool()
{
    CUdeviceptr blocks[2];
    const CUmemoryPool own = new_pool();
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocFromPoolAsync(&block, kBytes, own, nullptr)); // MARK pool
    check(cuMemFree_v2(blocks[0])); // it may also free what came from a pool
}

void pool_ptsz()
{
    CUdeviceptr blocks[2];
    const CUmemoryPool own = new_pool();
    for (CUdeviceptr& block : blocks)
        check(cuMemAllocFromPoolAsync_ptsz(&block, kBytes, own, nullptr)); // MARK pool_ptsz
    check(cuMemFreeAsync_ptsz(blocks[0], nullptr));
}

CUmemAllocationProp on_device_0()
{
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return prop;
}

constexpr std::size_t kPhysical = 2 << 20;

CUmemGenericAllocationHandle create_and_map(CUdeviceptr& address)
{
    const CUmemAllocationProp prop = on_device_0();
    CUmemGenericAllocationHandle handle = 0;
    check(cuMemAddressReserve(&address, kPhysical, 0, 0, 0)); // MARK reserve
    check(cuMemCreate(&handle, kPhysical, &prop, 0));         // MARK create
    check(cuMemMap(address, kPhysical, 0, handle, 0));
    return handle;
}

void physical_all_given_back()
{
    CUdeviceptr address = 0;
    check(cuMemRelease(create_and_map(address)));
    check(cuMemUnmap(address, kPhysical));
    check(cuMemAddressFree(address, kPhysical));
}

void physical_still_mapped()
{
    CUdeviceptr address = 0;
    check(cuMemRelease(create_and_map(address)));
}

void physical_not_released()
{
    CUdeviceptr address = 0;
    create_and_map(address);
    check(cuMemUnmap(address, kPhysical));
    check(cuMemAddressFree(address, kPhysical));
}

void physical_retained_once_more()
{
    CUdeviceptr address = 0;
    const CUmemGenericAllocationHandle handle = create_and_map(address);
    CUmemGenericAllocationHandle again = 0;
    check(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address)));
    check(cuMemUnmap(address, kPhysical));
    check(cuMemRelease(handle));
    check(cuMemAddressFree(address, kPhysical));
}

// Captured into a graph: the memory is the graph's, and the free makes a node.
void captured()
{
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUdeviceptr block = 0, left = 0;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check(cuMemAllocAsync(&left, kBytes, stream)); // MARK before_capture
    check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    check(cuMemAllocAsync(&block, kBytes, stream));
    check(cuMemFreeAsync(block, stream));
    check(cuMemAllocAsync(&block, kBytes, stream));
    check(cuStreamEndCapture(stream, &graph));
}

const Scene kKinds[] = {
    {"device_v1", device_v1},
    {"device_v2", device_v2},
    {"pitch_v1", pitch_v1},
    {"pitch_v2", pitch_v2},
    {"managed", managed},
    {"host_alloc", host_alloc},
    {"host_v1", host_v1},
    {"host_v2", host_v2},
    {"register_v1", register_v1},
    {"register_v2", register_v2},
    {"array_v1", array_v1},
    {"array_v2", array_v2},
    {"array3d_v1", array3d_v1},
    {"array3d_v2", array3d_v2},
    {"mipmap", mipmap},
    {"async", async},
    {"async_ptsz", async_ptsz},
    {"pool", pool},
    {"pool_ptsz", pool_ptsz},
    {"physical_all_given_back", physical_all_given_back},
    {"physical_still_mapped", physical_still_mapped},
    {"physical_not_released", physical_not_released},
    {"physical_retained_once_more", physical_retained_once_more},
    {"captured", captured},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kKinds, argc, argv);
}
