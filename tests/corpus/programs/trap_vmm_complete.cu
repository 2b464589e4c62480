// tests/corpus/programs/trap_vmm_complete.cu — handle, mapping and addresses, given back in an
// unusual order.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

int main()
{
    check(cudaSetDevice(0));
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle handle = 0;
    CUmemGenericAllocationHandle again = 0;
    CUdeviceptr address = 0;
    check(cuMemAddressReserve(&address, 8_MiB, 0, 0, 0));
    check(cuMemCreate(&handle, 4_MiB, &properties, 0));
    check(cuMemMap(address, 4_MiB, 0, handle, 0));
    check(cuMemMap(address + 4_MiB, 4_MiB, 0, handle, 0)); // twice mapped
    let_use(address, 8_MiB);
    check(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address)));
    check(cuMemRelease(handle));
    check(cuMemUnmap(address, 4_MiB));
    check(cuMemUnmap(address + 4_MiB, 4_MiB));
    check(cuMemRelease(again));
    check(cuMemAddressFree(address, 8_MiB));
}
