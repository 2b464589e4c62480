// tests/programs/memory/contexts.cpp — ends a context that holds memory, in each way that CUDA has.
//
// Usage: contexts WAY. In the context: one device block, one stream-ordered and one physical block;
// none is freed.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cstring>

#include "tests/programs/driver_program.hpp"

namespace {

void fill_context()
{
    CUdeviceptr device = 0, async = 0;
    CUmemGenericAllocationHandle physical = 0;
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    check(cuMemAlloc_v2(&device, 1000));              // MARK device
    check(cuMemAllocAsync(&async, 2000, nullptr));    // MARK async
    check(cuMemCreate(&physical, 2 << 20, &prop, 0)); // MARK physical
}

CUcontext new_context()
{
    CUcontext context = nullptr;
    check(cuCtxCreate_v2(&context, 0, first_device()));
    fill_context();
    return context;
}

CUdevice filled_primary()
{
    primary_context();
    fill_context();
    return 0;
}

bool end_context(const char* way)
{
    const auto is = [way](const char* name) { return std::strcmp(way, name) == 0; };
    if (is("destroy"))
        check(cuCtxDestroy_v2(new_context()));
    else if (is("destroy_v1"))
        check(cuCtxDestroy(new_context()));
    else if (is("detach"))
        check(cuCtxDetach(new_context()));
    else if (is("attach_and_detach")) { // one holder is left: the context stays
        CUcontext again = nullptr;
        new_context();
        check(cuCtxAttach(&again, 0));
        check(cuCtxDetach(again));
    } else if (is("primary_reset"))
        check(cuDevicePrimaryCtxReset(filled_primary()));
    else if (is("primary_reset_v2"))
        check(cuDevicePrimaryCtxReset_v2(filled_primary()));
    else if (is("primary_release"))
        check(cuDevicePrimaryCtxRelease(filled_primary()));
    else if (is("primary_release_v2"))
        check(cuDevicePrimaryCtxRelease_v2(filled_primary()));
    else if (is("primary_release_of_two")) { // retained twice: one release does not end it
        primary_context();
        check(cuDevicePrimaryCtxRelease_v2(filled_primary()));
    } else if (is("destroy_one_of_two")) { // only the memory of the destroyed one is gone
        CUcontext first = new_context();
        CUcontext second = nullptr;
        CUdeviceptr device = 0;
        check(cuCtxCreate_v2(&second, 0, 0));
        check(cuMemAlloc_v2(&device, 500)); // MARK other_context
        check(cuCtxDestroy_v2(first));
    } else if (is("second_of_a_full_device")) { // the pool gives back what it keeps
        CUcontext context = nullptr;
        CUdeviceptr device = 0;
        std::size_t available = 0, total = 0;
        check(cuCtxCreate_v2(&context, 0, first_device()));
        check(cuMemGetInfo_v2(&available, &total));
        check(cuMemAlloc_v2(&device, total / 8 * 5));
        check(cuMemFree_v2(device));
        check(cuCtxCreate_v2(&context, 0, 0));
        check(cuMemAlloc_v2(&device, 500));
    } else
        return false;
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    return argc == 2 && end_context(argv[1]) ? 0 : 2;
}
