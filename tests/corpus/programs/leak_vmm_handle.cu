// tests/corpus/programs/leak_vmm_handle.cu — physical memory that was never mapped and never
// released.
// truth: verdict leaks
// truth: leak function=reserve_page memory=physical api=cuMemCreate blocks=1 bytes=2MiB
#include "tests/corpus/corpus.hpp"

CUmemGenericAllocationHandle reserve_page()
{
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle handle = 0;
    check(cuMemCreate(&handle, 2_MiB, &properties, 0));
    return handle;
}

int main()
{
    check(cudaSetDevice(0));
    check(cuMemRelease(reserve_page()));
    reserve_page();
}
