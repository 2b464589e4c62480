// tests/corpus/programs/leak_vmm_grows.cu — a vector of VMM memory grows by a page in each step and
// is never torn down.
// truth: verdict leaks
// truth: leak function=Vector::grow memory=physical blocks=24 bytes=24*2MiB class=growing per=step slope=2MiB
// truth: total address_reservations=1 reserved_address_bytes=128MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Vector {
    CUdeviceptr begin = 0;
    size_t bytes = 0;

    void grow()
    {
        const CUmemAllocationProp properties = on_device();
        CUmemGenericAllocationHandle handle = 0;
        check(cuMemCreate(&handle, 2_MiB, &properties, 0));
        check(cuMemMap(begin + bytes, 2_MiB, 0, handle, 0));
        check(cuMemRelease(handle));
        let_use(begin + bytes, 2_MiB);
        bytes += 2_MiB;
    }
};

int main()
{
    check(cudaSetDevice(0));
    Vector vector;
    check(cuMemAddressReserve(&vector.begin, 128_MiB, 0, 0, 0));
    for (int step = 0; step < 24; ++step) {
        const Range range("step");
        vector.grow();
    }
}
