// tests/corpus/programs/misuse_free_after_context.cu — a block is freed after its context is gone.
// truth: verdict leaks
// truth: leak function=main kind=leaked-at-reset memory=device blocks=1 bytes=2MiB
// truth: owner function=new_context memory=context blocks=1
// truth: misuse function=late_free kind=free-after-context calls=1 ended_api=cuCtxDestroy ended_function=main
#include "tests/corpus/corpus.hpp"

bool late_free(CUdeviceptr block)
{
    return cuMemFree(block) == CUDA_SUCCESS;
}

int main()
{
    check(cuInit(0));
    const CUcontext context = new_context();
    CUdeviceptr block = 0;
    check(cuMemAlloc(&block, 2_MiB));
    check(cuCtxDestroy(context));
    new_context();
    return late_free(block) ? 98 : 0;
}
