// tests/programs/doors/plugin.cpp — a plugin that uses CUDA; plugin_host.c opens it.
//
// Built twice: as it is it looks the driver up; with PLUGIN_LINKED it is linked with -lcuda.
#include <dlfcn.h>

#include "tests/programs/driver_program.hpp"

namespace {

#ifdef PLUGIN_LINKED
#define DRIVER(name) name
#else
template <class Function>
Function* look_up(const char* name)
{
    static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return reinterpret_cast<Function*>(dlsym(driver, name));
}
#define DRIVER(name) look_up<decltype(name)>(#name)
#endif

} // namespace

extern "C" int plugin_run(void)
{
    CUcontext context = nullptr;
    CUdeviceptr blocks[2];
    check(DRIVER(cuInit)(0));
    check(DRIVER(cuDevicePrimaryCtxRetain)(&context, 0));
    check(DRIVER(cuCtxSetCurrent)(context));
    for (CUdeviceptr& block : blocks)
        check(DRIVER(cuMemAlloc_v2)(&block, 3000)); // MARK alloc
    check(DRIVER(cuMemFree_v2)(blocks[0]));
    return 0;
}

// Thrown through this library and caught in it, while the main program is C and knows nothing of
// C++.
extern "C" int plugin_throw(void)
{
    try {
        throw 41;
    } catch (int number) {
        return number + 1;
    }
}
