// tests/programs/doors/doors.cpp — finds the driver in each way but linking.
//
// Allocates twice and frees once.
//
// Usage: doors WAY. It is not linked with -lcuda.
#include <cstring>
#include <dlfcn.h>

#include "tests/programs/driver_program.hpp"

namespace {

void* driver()
{
    static void* const handle = dlopen("libcuda.so.1", RTLD_NOW);
    if (!handle) {
        std::fprintf(stderr, "%s\n", dlerror());
        std::exit(4);
    }
    return handle;
}

using Find = void* (*)(const char* exported, const char* name, int version);

void* by_dlsym(const char* exported, const char*, int)
{
    return dlsym(driver(), exported);
}

// For a driver whose symbols have versions: odd_driver.cpp.
void* by_dlvsym(const char* exported, const char*, int)
{
    return dlvsym(driver(), exported, "CUDA_1");
}

// As other interposers do it, to get past one another.
void* by_looked_up_dlvsym(const char* exported, const char*, int)
{
    void* const libc = dlopen("libc.so.6", RTLD_NOW);
    const auto find = reinterpret_cast<decltype(&dlsym)>(dlvsym(libc, "dlsym", "GLIBC_2.2.5"));
    return find(driver(), exported);
}

// As wrappers of the dynamic loader do it: dlsym itself is looked up.
void* by_looked_up_dlsym(const char* exported, const char*, int)
{
    void* const libc = dlopen("libc.so.6", RTLD_NOW);
    const auto find = reinterpret_cast<decltype(&dlsym)>(dlsym(libc, "dlsym"));
    return find(driver(), exported);
}

void* by_default_dlsym(const char* exported, const char*, int)
{
    const auto find = reinterpret_cast<decltype(&dlsym)>(dlsym(RTLD_DEFAULT, "dlsym"));
    return find(driver(), exported);
}

void* by_get_proc_v1(const char*, const char* name, int version)
{
    static const auto find =
        reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(driver(), "cuGetProcAddress"));
    void* function = nullptr;
    check(find(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT));
    return function;
}

void* by_get_proc_v2(const char*, const char* name, int version)
{
    static const auto find =
        reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(driver(), "cuGetProcAddress_v2"));
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    check(find(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    return function;
}

// As NVIDIA's runtime does it: the first cuGetProcAddress_v2 is only used to ask for the second.
void* by_get_proc_of_get_proc(const char*, const char* name, int version)
{
    static const auto find = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(
        by_get_proc_v2(nullptr, "cuGetProcAddress", 12000));
    void* function = nullptr;
    check(find(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
    return function;
}

template <class Function>
Function* found(Find find, const char* exported, const char* name, int version)
{
    void* const function = find(exported, name, version);
    if (!function)
        std::exit(5);
    return reinterpret_cast<Function*>(function);
}

void use(Find find)
{
    CUcontext context = nullptr;
    CUdeviceptr blocks[2];
    check(found<decltype(cuInit)>(find, "cuInit", "cuInit", 2000)(0));
    check(found<decltype(cuDevicePrimaryCtxRetain)>(find, "cuDevicePrimaryCtxRetain",
                                                    "cuDevicePrimaryCtxRetain", 7000)(&context, 0));
    check(found<decltype(cuCtxSetCurrent)>(find, "cuCtxSetCurrent", "cuCtxSetCurrent",
                                           4000)(context));
    const auto alloc = found<decltype(cuMemAlloc_v2)>(find, "cuMemAlloc_v2", "cuMemAlloc", 3020);
    const auto free = found<decltype(cuMemFree_v2)>(find, "cuMemFree_v2", "cuMemFree", 3020);
    for (CUdeviceptr& block : blocks)
        check(alloc(&block, 3000)); // MARK alloc
    check(free(blocks[0]));
}

// The 32-bit form of CUDA 2.0, which must write no more than 32 bits.
void use_old_form()
{
    struct {
        CUdeviceptr_v1 block;
        unsigned guard = 0x600d;
    } out;
    CUcontext context = nullptr;
    check(found<decltype(cuInit)>(by_dlsym, "cuInit", nullptr, 0)(0));
    check(found<decltype(cuDevicePrimaryCtxRetain)>(by_dlsym, "cuDevicePrimaryCtxRetain", nullptr,
                                                    0)(&context, 0));
    check(found<decltype(cuCtxSetCurrent)>(by_dlsym, "cuCtxSetCurrent", nullptr, 0)(context));
    const auto alloc = found<decltype(cuMemAlloc)>(by_get_proc_v2, nullptr, "cuMemAlloc", 2000);
    const auto free = found<decltype(cuMemFree)>(by_get_proc_v2, nullptr, "cuMemFree", 2000);
    check(alloc(&out.block, 5000));
    check(free(out.block));
    check(alloc(&out.block, 3000)); // MARK old_alloc
    std::printf("guard %x\n", out.guard);
}

const struct {
    const char* name;
    Find find;
} kWays[] = {
    {"dlsym", by_dlsym},
    {"dlvsym", by_dlvsym},
    {"looked_up_dlvsym", by_looked_up_dlvsym},
    {"looked_up_dlsym", by_looked_up_dlsym},
    {"default_dlsym", by_default_dlsym},
    {"get_proc_v1", by_get_proc_v1},
    {"get_proc_v2", by_get_proc_v2},
    {"get_proc_of_get_proc", by_get_proc_of_get_proc},
};

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    if (std::strcmp(argv[1], "old_form") == 0)
        return use_old_form(), 0;
    for (const auto& way : kWays)
        if (std::strcmp(way.name, argv[1]) == 0) {
            use(way.find);
            return 0;
        }
    return 2;
}
