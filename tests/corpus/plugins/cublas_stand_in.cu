// tests/corpus/plugins/cublas_stand_in.cu — goes by cuBLAS's name: each of its handles has a
// workspace.
#include "tests/corpus/corpus.hpp"

extern "C" void* stand_in_create()
{
    void* workspace = nullptr;
    check(cudaMalloc(&workspace, 300000));
    return workspace;
}

extern "C" void stand_in_destroy(void* workspace)
{
    check(cudaFree(workspace));
}
