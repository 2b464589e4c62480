// tests/programs/memory/misuse.cpp — frees memory wrongly, in each way that the driver notices.
//
// Usage: misuse WAY. The program goes on after the driver's refusal and ends with status 0; a
// driver that accepts it ends it with status 4.
#include <cstring>

#include "tests/programs/driver_program.hpp"

namespace {

void refused(CUresult result)
{
    if (result != CUDA_SUCCESS)
        return;
    std::fprintf(stderr, "the driver accepted a wrong free\n");
    std::exit(4);
}

CUdeviceptr allocate()
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, 1 << 20)); // MARK allocation
    return block;
}

void double_free()
{
    const CUdeviceptr block = allocate();
    check(cuMemFree_v2(block)); // MARK first_free
    for (int again = 0; again < 3; ++again)
        refused(cuMemFree_v2(block)); // MARK double_free
}

void never_allocated()
{
    check(cuMemFree_v2(allocate()));
    refused(cuMemFree_v2(0x7000)); // MARK never_allocated
}

void interior()
{
    const CUdeviceptr block = allocate();
    refused(cuMemFree_v2(block + 512)); // MARK interior
    check(cuMemFree_v2(block));
}

void wrong_api()
{
    void* pinned = nullptr;
    check(cuMemHostAlloc(&pinned, 4096, 0)); // MARK pinned
    const auto address = reinterpret_cast<CUdeviceptr>(pinned);
    refused(cuMemFreeAsync(address, nullptr)); // MARK wrong_api
    check(cuMemFreeHost(pinned));
}

void after_context()
{
    CUcontext context = nullptr;
    check(cuCtxCreate_v2(&context, 0, first_device()));
    const CUdeviceptr block = allocate();
    check(cuCtxDestroy_v2(context)); // MARK context_of_block_destroyed
    primary_context();
    refused(cuMemFree_v2(block)); // MARK after_context
}

void context_twice()
{
    CUcontext context = nullptr;
    check(cuMemFree_v2(allocate()));
    check(cuCtxCreate_v2(&context, 0, first_device())); // MARK context
    check(cuCtxDestroy_v2(context));                    // MARK context_destroyed
    refused(cuCtxDestroy_v2(context));                  // MARK context_twice
}

} // namespace

int main(int count, char** arguments)
{
    const char* const way = count > 1 ? arguments[1] : "";
    const auto is = [way](const char* name) { return std::strcmp(way, name) == 0; };
    primary_context();
    if (is("double_free"))
        double_free();
    else if (is("never_allocated"))
        never_allocated();
    else if (is("interior"))
        interior();
    else if (is("context_twice"))
        context_twice();
    else if (is("wrong_api"))
        wrong_api();
    else if (is("after_context"))
        after_context();
    else
        return 2;
    return 0;
}
