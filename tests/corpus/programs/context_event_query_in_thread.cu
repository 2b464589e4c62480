// tests/corpus/programs/context_event_query_in_thread.cu — a watchdog polls an event in a thread
// that never chose a device: the query opens a context on device 0 (torchcomms #777).
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=poll api=cudaEventQuery device=0 opening=retained stray=true allocations=0
#include <thread>

#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

[[gnu::noinline]] void poll(cudaEvent_t done)
{
    check(cudaEventQuery(done));
    keep_frame();
}

int main()
{
    void* block = work();
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done));
    check(cudaEventRecord(done));
    check(cudaEventSynchronize(done));
    std::thread(poll, done).join();
    check(cudaEventDestroy(done));
    check(cudaFree(block));
}
