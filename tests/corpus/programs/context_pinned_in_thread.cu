// tests/corpus/programs/context_pinned_in_thread.cu — a loader's thread pins host memory, for which a
// context is opened on device 0 (ffcv #190). Host memory alone is allocated in it.
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=load device=0 opening=retained stray=true allocations=1
#include <thread>

#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

[[gnu::noinline]] void load(void** buffer)
{
    check(cudaHostAlloc(buffer, 64_KiB, cudaHostAllocDefault));
    keep_frame();
}

int main()
{
    void* block = work();
    void* buffer = nullptr;
    std::thread(load, &buffer).join();
    check(cudaFreeHost(buffer));
    check(cudaFree(block));
}
