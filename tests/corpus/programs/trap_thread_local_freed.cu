// tests/corpus/programs/trap_thread_local_freed.cu — a buffer for each thread, freed when the
// thread ends.
// truth: verdict clean
#include <thread>

#include "tests/corpus/corpus.hpp"

struct Scratch {
    Scratch() { check(cudaMalloc(&data, 16_KiB)); }
    ~Scratch() { check(cudaFree(data)); }
    void* data = nullptr;
};

int main()
{
    for (int request = 0; request < 20; ++request)
        std::thread([] {
            static thread_local Scratch scratch;
            check(cudaMemset(scratch.data, 0, 16_KiB));
        }).join();
}
