// tests/corpus/programs/context_synchronise_in_thread.cu — a thread of a library's waits for the device,
// and nobody chose one there (pytorch #126381).
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=tear_down api=cudaDeviceSynchronize device=0 opening=retained stray=true allocations=0
#include <thread>

#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

[[gnu::noinline]] void tear_down()
{
    check(cudaDeviceSynchronize());
    keep_frame();
}

int main()
{
    void* block = work();
    std::thread(tear_down).join();
    check(cudaFree(block));
}
