// tests/corpus/programs/context_guard_restores_device.cu — the collector's thread destroys an event
// under a guard, which "restores" device 0 and so opens a context there (pytorch #135273).
// run: simulate=2x256MiB
// truth: verdict clean
// truth: context function=work device=1 opening=retained stray=false
// truth: context function=Guard::~Guard api=cudaSetDevice device=0 opening=retained stray=true allocations=0
#include <thread>

#include "tests/corpus/corpus.hpp"

void* work()
{
    void* block = nullptr;
    check(cudaSetDevice(1));
    check(cudaMalloc(&block, 1_MiB));
    return block;
}

class Guard {
public:
    explicit Guard(int device)
    {
        check(cudaGetDevice(&before_));
        check(cudaSetDevice(device));
    }
    [[gnu::noinline]] ~Guard()
    {
        check(cudaSetDevice(before_));
        keep_frame();
    }

private:
    int before_ = 0;
};

void collect(cudaEvent_t done)
{
    const Guard guard(1);
    check(cudaEventDestroy(done));
}

int main()
{
    if (CUDART_VERSION < 12000)
        needs_cuda("12.0"); // before, cudaSetDevice opened nothing
    void* block = work();
    cudaEvent_t done = nullptr;
    check(cudaEventCreate(&done));
    std::thread(collect, done).join();
    check(cudaFree(block));
}
