// tests/corpus/programs/trap_double_buffer.cu — two buffers change places in each step and are made
// anew.
// truth: verdict clean
#include <utility>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* front = nullptr;
    void* back = nullptr;
    check(cudaMalloc(&front, 1_MiB));
    for (int step = 0; step < 150; ++step) {
        const Range range("step");
        check(cudaMalloc(&back, 1_MiB));
        std::swap(front, back);
        check(cudaFree(back));
    }
    check(cudaFree(front));
}
