// tests/corpus/programs/context_restored_that_never_was.cu — a server's stub restores a context that it
// never had: it retains the primary one of each device that it looks at (triton python_backend #263).
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=restore api=cuDevicePrimaryCtxRetain device=0 opening=retained stray=true allocations=0
#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

[[gnu::noinline]] void restore()
{
    CUcontext context = nullptr;
    check(cuDevicePrimaryCtxRetain(&context, 0));
    keep_frame();
}

int main()
{
    void* block = work();
    restore();
    check(cudaFree(block));
    check(cuDevicePrimaryCtxRelease(0));
}
