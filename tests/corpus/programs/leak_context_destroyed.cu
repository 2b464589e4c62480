// tests/corpus/programs/leak_context_destroyed.cu — a context goes, with two blocks that nobody had
// freed.
// truth: verdict leaks
// truth: leak function=fill_cache kind=leaked-at-reset memory=device blocks=2 bytes=2*300KiB rows=2
#include "tests/corpus/corpus.hpp"

CUdeviceptr fill_cache()
{
    CUdeviceptr block = 0;
    check(cuMemAlloc(&block, 300_KiB));
    return block;
}

int main()
{
    check(cuInit(0));
    const CUcontext context = new_context();
    fill_cache();
    fill_cache();
    check(cuMemFree(fill_cache()));
    check(cuCtxDestroy(context));
}
