// tests/corpus/programs/trap_arena.cu — one large block, cut up by the program, and freed as one.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

struct Arena {
    Arena() { check(cudaMalloc(&begin, 32_MiB)); }
    ~Arena() { check(cudaFree(begin)); }
    char* take(size_t bytes)
    {
        char* const piece = begin + used;
        used += (bytes + 255) / 256 * 256;
        return piece;
    }
    char* begin = nullptr;
    size_t used = 0;
};

int main()
{
    Arena arena;
    for (int step = 0; step < 100; ++step) {
        const Range range("step");
        check(cudaMemset(arena.take(100000), 0, 100000));
    }
}
