// tests/corpus/programs/leak_vmm_mapping.cu — the handle is released, but a mapping keeps the
// memory: it was never unmapped.
// truth: verdict leaks
// truth: leak function=map_page memory=physical api=cuMemCreate blocks=1 bytes=2MiB
// truth: total address_reservations=1 reserved_address_bytes=2MiB
#include "tests/corpus/corpus.hpp"

CUdeviceptr map_page()
{
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    check(cuMemCreate(&handle, 2_MiB, &properties, 0));
    check(cuMemAddressReserve(&address, 2_MiB, 0, 0, 0));
    check(cuMemMap(address, 2_MiB, 0, handle, 0));
    let_use(address, 2_MiB);
    check(cuMemRelease(handle));
    return address;
}

int main()
{
    check(cudaSetDevice(0));
    map_page();
    const CUdeviceptr freed = map_page();
    check(cuMemUnmap(freed, 2_MiB));
    check(cuMemAddressFree(freed, 2_MiB));
}
