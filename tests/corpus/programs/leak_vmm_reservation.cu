// tests/corpus/programs/leak_vmm_reservation.cu — addresses stay reserved; the memory behind them
// is gone: addresses are no leak of memory.
// truth: verdict clean
// truth: total address_reservations=1 reserved_address_bytes=64MiB
#include "tests/corpus/corpus.hpp"

int main()
{
    check(cudaSetDevice(0));
    const CUmemAllocationProp properties = on_device();
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr address = 0;
    check(cuMemAddressReserve(&address, 64_MiB, 0, 0, 0));
    check(cuMemCreate(&handle, 4_MiB, &properties, 0));
    check(cuMemMap(address, 4_MiB, 0, handle, 0));
    check(cuMemRelease(handle));
    check(cuMemUnmap(address, 4_MiB));
}
