// tests/corpus/plugins/plugin_leaks.cu — opened by leak_plugin: takes two blocks, frees one.
#include "tests/corpus/corpus.hpp"

extern "C" void plugin_run()
{
    void* blocks[2] = {};
    for (void*& block : blocks)
        check(cudaMalloc(&block, 50000));
    check(cudaFree(blocks[0]));
}
