// tests/corpus/programs/trap_static_destructor.cu — a global object frees after main; the runtime
// was initialised before it.
// truth: verdict clean
#include "tests/corpus/corpus.hpp"

struct Global {
    Global() { check(cudaMalloc(&data, 1_MiB)); }
    ~Global() { check(cudaFree(data)); }
    void* data = nullptr;
};

Global global;

int main()
{
    check(cudaMemset(global.data, 0, 1_MiB));
}
