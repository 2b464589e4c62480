// tests/corpus/programs/context_pointer_asked_in_thread.cu — a helper asks what a pointer is, in a thread
// that never chose a device (monarch #4185).
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=look_at api=cudaPointerGetAttributes device=0 opening=retained stray=true allocations=0
#include <thread>

#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

[[gnu::noinline]] void look_at(void* block)
{
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, block));
    keep_frame();
}

int main()
{
    void* block = work();
    std::thread(look_at, block).join();
    check(cudaFree(block));
}
