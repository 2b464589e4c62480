// tests/corpus/programs/trap_ring_buffer.cu — a ring of eight slots; each is given back when it is
// its turn again.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

int main()
{
    void* ring[8] = {};
    for (int frame = 0; frame < 250; ++frame) {
        const Range range("frame");
        void*& slot = ring[frame % 8];
        check(cudaFree(slot));
        check(cudaMalloc(&slot, 4096 + 512 * (frame % 5)));
    }
    for (void* const slot : ring)
        check(cudaFree(slot));
}
