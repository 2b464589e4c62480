// tests/corpus/programs/leak_driver_api.cu — the driver's functions, in a context of the program's
// own that is never destroyed.
// truth: verdict leaks
// truth: leak function=allocate kind=leaked-at-exit memory=device api=cuMemAlloc blocks=2 bytes=2*1000 rows=2
// truth: owner function=new_context memory=context blocks=1
#include "tests/corpus/corpus.hpp"

CUdeviceptr allocate()
{
    CUdeviceptr block = 0;
    check(cuMemAlloc(&block, 1000));
    return block;
}

int main()
{
    check(cuInit(0));
    new_context();
    allocate();
    check(cuMemFree(allocate()));
    allocate();
}
