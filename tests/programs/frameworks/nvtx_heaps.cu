// tests/programs/frameworks/nvtx_heaps.cu — allocators that tell of their heaps by NVTX.
//
// A region is lost where a MARK says so. All others end: one by one, or with their heap.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExtMem.h>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
nvtxDomainHandle_t domain;

class Pool {
public:
    Pool(const char* name, std::size_t bytes) : bytes_(bytes)
    {
        cudaMalloc(&memory_, bytes);
        nvtxMemVirtualRangeDesc_t range{bytes, memory_};
        nvtxMemHeapDesc_t heap{};
        heap.extCompatID = NVTX_EXT_COMPATID_MEM;
        heap.structSize = sizeof heap;
        heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
        heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        heap.typeSpecificDescSize = sizeof range;
        heap.typeSpecificDesc = &range;
        heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
        heap.message.ascii = name;
        heap_ = nvtxMemHeapRegister(domain, &heap);
    }

    char* at(std::size_t mib) const { return static_cast<char*>(memory_) + mib * kMiB; }
    void* take(std::size_t mib_from, std::size_t bytes)
    {
        nvtxMemVirtualRangeDesc_t range{bytes, at(mib_from)};
        nvtxMemRegionHandle_t handle = nullptr;
        nvtxMemRegionsRegisterBatch_t batch{};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.heap = heap_;
        batch.regionCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        batch.regionHandleElementsOut = &handle;
        nvtxMemRegionsRegister(domain, &batch);
        return handle;
    }
    void resize(void* region, std::size_t bytes)
    {
        nvtxMemVirtualRangeDesc_t range{bytes, region};
        nvtxMemRegionsResizeBatch_t batch{};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
        batch.regionDescCount = 1;
        batch.regionDescElementSize = sizeof range;
        batch.regionDescElements = &range;
        nvtxMemRegionsResize(domain, &batch);
    }
    void give_back(void* region)
    {
        nvtxMemRegionRef_t reference{};
        reference.pointer = region;
        nvtxMemRegionsUnregisterBatch_t batch{};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.refType = NVTX_MEM_REGION_REF_TYPE_POINTER;
        batch.refCount = 1;
        batch.refElementSize = sizeof reference;
        batch.refElements = &reference;
        nvtxMemRegionsUnregister(domain, &batch);
    }
    void name(void* region, const char* text)
    {
        nvtxMemRegionNameDesc_t named{};
        named.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
        named.nameType = NVTX_MESSAGE_TYPE_ASCII;
        named.region.pointer = region;
        named.name.ascii = text;
        nvtxMemRegionsNameBatch_t batch{};
        batch.extCompatID = NVTX_EXT_COMPATID_MEM;
        batch.structSize = sizeof batch;
        batch.regionCount = 1;
        batch.regionElementSize = sizeof named;
        batch.regionElements = &named;
        nvtxMemRegionsName(domain, &batch);
    }
    void reset() { nvtxMemHeapReset(domain, heap_); }
    void unregister() { nvtxMemHeapUnregister(domain, heap_); }
    void free() { cudaFree(memory_); }
    std::size_t bytes() const { return bytes_; }

private:
    void* memory_ = nullptr;
    std::size_t bytes_;
    nvtxMemHeapHandle_t heap_ = nullptr;
};

__attribute__((noinline)) void lose(Pool& pool)
{
    void* const region = pool.take(0, 3 * kMiB); // MARK lost
    pool.name(region, "a first name");
    pool.name(region, "keys and values");
}

__attribute__((noinline)) void grow(Pool& pool)
{
    void* const region = pool.take(4, kMiB);
    pool.name(region, "growing");
    pool.name(region, "");         // is no name
    pool.resize(region, 2 * kMiB); // MARK grown
}

} // namespace

int main(int count, char** arguments)
{
    domain = nvtxDomainCreateA("pools");
    Pool activations("activations", 16 * kMiB);
    lose(activations);
    grow(activations);
    for (int i = 0; i < 10; ++i)
        activations.give_back(activations.take(8, kMiB));
    activations.name(activations.at(8), "of none");

    Pool scratch("scratch", 8 * kMiB);
    scratch.take(0, kMiB);
    scratch.take(1, kMiB);
    if (count > 1 && std::strcmp(arguments[1], "unregister") == 0)
        scratch.unregister();
    else if (count > 1 && std::strcmp(arguments[1], "reset") == 0)
        scratch.reset();
    scratch.free();

    Pool kept("kept", 4 * kMiB); // whose regions all end with it, though its memory stays
    kept.take(0, kMiB);
    kept.reset();
    void* const again = kept.take(0, 2 * kMiB);
    kept.give_back(again);
    kept.take(2, kMiB);
    kept.unregister();
    std::printf("%zu\n", activations.bytes());
    return 0;
}
