// tests/corpus/programs/context_used_later.cu — the contexts of both devices are opened at first, and one is
// used only at the end: none is stray. One made on a device that is worked on is none either.
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=open_all device=0 opening=retained stray=false rows=1
// truth: context function=open_all device=1 opening=retained stray=false rows=1
// truth: context function=make_another device=1 opening=created stray=false allocations=0
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void open_all()
{
    for (int device = 0; device < 2; ++device) {
        check(cudaSetDevice(device));
        check(cudaFree(nullptr));
    }
}

[[gnu::noinline]] CUcontext make_another()
{
    CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
    check(cuCtxCreate(&context, nullptr, 0, 1));
#else
    check(cuCtxCreate(&context, 0, 1));
#endif
    keep_frame();
    return context;
}

int main()
{
    open_all();
    check(cuCtxDestroy(make_another()));
    void* block = nullptr;
    for (int device = 1; device >= 0; --device) {
        check(cudaSetDevice(device));
        check(cudaMalloc(&block, 1_MiB));
        check(cudaFree(block));
    }
}
