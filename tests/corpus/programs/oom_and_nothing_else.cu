// tests/corpus/programs/oom_and_nothing_else.cu — the only memory calls of the program fail, and it
// goes on without.
// run: set=limit=64MiB
// truth: verdict clean
// truth: oom function=try_large kind=lacking requested=100MiB short_by=36MiB rows=2
// truth: failed function=try_large calls=2
#include "tests/corpus/corpus.hpp"

bool try_large()
{
    void* block = nullptr;
    const bool done = cudaMalloc(&block, 100_MiB) == cudaSuccess;
    cudaGetLastError();
    return done;
}

int main()
{
    bool done = false;
    for (int i = 0; i < 2; ++i)
        done = try_large() || done;
    return done ? 98 : 0;
}
