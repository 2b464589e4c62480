// tests/gpu/driver_program.cpp — the same for the driver API, reached in the way that WAY names.
//
// WAY_LINKED: -lcuda. WAY_DLSYM: dlopen and dlsym. WAY_LOOKUP: cuGetProcAddress. Output as in
// runtime_program.cu.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#include <cuda.h>

namespace {

#ifdef WAY_LINKED
#define DRIVER(name, version) (&name)
#else
void* driver()
{
    static void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        std::printf("%s\n", dlerror());
        std::exit(1);
    }
    return library;
}

#ifdef WAY_LOOKUP
// CUDA 12 changed the signature that the name stands for, and the header's macro with it: the first
// one has been there longest.
void* look_up(const char* name, int version)
{
    using Lookup = CUresult(const char*, void**, int, cuuint64_t);
    static auto* const lookup = reinterpret_cast<Lookup*>(dlsym(driver(), "cuGetProcAddress"));
    void* found = nullptr;
    if (lookup(name, &found, version, 0) != CUDA_SUCCESS) {
        std::printf("no %s of version %d\n", name, version);
        std::exit(1);
    }
    return found;
}
#else
void* look_up(const char* name, int)
{
    return dlsym(driver(), name);
}
#endif
// The look-up asks for the plain name, and the version says which; dlsym for what the macro of the
// header makes of it.
#ifdef WAY_LOOKUP
#define DRIVER(name, version) reinterpret_cast<decltype(&name)>(look_up(#name, version))
#else
#define TEXT(name) #name
#define DRIVER(name, version) reinterpret_cast<decltype(&name)>(look_up(TEXT(name), version))
#endif
#endif

void check(CUresult status, int line)
{
    if (status != CUDA_SUCCESS) {
        std::printf("line %d: error %d\n", line, static_cast<int>(status));
        std::exit(1);
    }
}
#define CHECK(call) check((call), __LINE__)

void told(const char* api, const char* entry_point, std::size_t leaked_blocks,
          std::size_t leaked_bytes, std::size_t freed_blocks)
{
    std::printf("%s %s %zu %zu %zu\n", api, entry_point, leaked_blocks, leaked_bytes, freed_blocks);
}

void device_memory()
{
    constexpr std::size_t kBytes = 3 << 20;
    for (int i = 0; i < 4; ++i) {
        CUdeviceptr block = 0;
        CHECK(DRIVER(cuMemAlloc, 3020)(&block, kBytes));
        if (i >= 2)
            CHECK(DRIVER(cuMemFree, 3020)(block));
    }
    told("cuMemAlloc", "cuMemAlloc_v2", 2, 2 * kBytes, 2);
}

void managed_memory()
{
    constexpr std::size_t kBytes = 1 << 20;
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        CHECK(DRIVER(cuMemAllocManaged, 6000)(&block, kBytes, CU_MEM_ATTACH_GLOBAL));
    CHECK(DRIVER(cuMemFree, 3020)(blocks[0]));
    told("cuMemAllocManaged", "cuMemAllocManaged", 1, kBytes, 1);
}

void pinned_memory()
{
    constexpr std::size_t kBytes = 256 << 10;
    void* blocks[2];
    for (void*& block : blocks)
        CHECK(DRIVER(cuMemHostAlloc, 2020)(&block, kBytes, 0));
    CHECK(DRIVER(cuMemFreeHost, 2000)(blocks[0]));
    told("cuMemHostAlloc", "cuMemHostAlloc", 1, kBytes, 1);
}

void stream_ordered_memory()
{
    constexpr std::size_t kBytes = 5 << 20;
    CUdeviceptr blocks[2];
    for (CUdeviceptr& block : blocks)
        CHECK(DRIVER(cuMemAllocAsync, 11020)(&block, kBytes, nullptr));
    CHECK(DRIVER(cuMemFreeAsync, 11020)(blocks[0], nullptr));
    CHECK(DRIVER(cuStreamSynchronize, 2000)(nullptr));
    told("cuMemAllocAsync", "cuMemAllocAsync", 1, kBytes, 1);
}

// Two pieces of physical memory; both are mapped, one is given back in full.
void virtual_memory(CUdevice device)
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    std::size_t bytes = 0;
    CHECK(DRIVER(cuMemGetAllocationGranularity, 10020)(&bytes, &properties,
                                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CUmemGenericAllocationHandle pieces[2];
    CUdeviceptr places[2];
    for (int i = 0; i < 2; ++i) {
        CHECK(DRIVER(cuMemCreate, 10020)(&pieces[i], bytes, &properties, 0));
        CHECK(DRIVER(cuMemAddressReserve, 10020)(&places[i], bytes, 0, 0, 0));
        CHECK(DRIVER(cuMemMap, 10020)(places[i], bytes, 0, pieces[i], 0));
    }
    CHECK(DRIVER(cuMemUnmap, 10020)(places[0], bytes));
    CHECK(DRIVER(cuMemRelease, 10020)(pieces[0]));
    CHECK(DRIVER(cuMemAddressFree, 10020)(places[0], bytes));
    told("cuMemCreate", "cuMemCreate", 1, bytes, 1);
}

} // namespace

int main()
{
    CUdevice device = 0;
    CUcontext context = nullptr;
    CHECK(DRIVER(cuInit, 2000)(0));
    CHECK(DRIVER(cuDeviceGet, 2000)(&device, 0));
    CHECK(DRIVER(cuDevicePrimaryCtxRetain, 7000)(&context, device));
    CHECK(DRIVER(cuCtxSetCurrent, 4000)(context));
    device_memory();
    managed_memory();
    pinned_memory();
    stream_ordered_memory();
    virtual_memory(device);
    return 0;
}
