// tests/corpus/programs/objects_module_loaded_again.cu — a module is loaded for each work unit and never
// unloaded, until launches fail (gpuowl #5). Another is unloaded each time.
// run: takes=module=1MiB
// truth: verdict clean
// truth: object function=load object=module api=cuModuleLoadData made=60 ended=0 alive=60 class=growing per=unit each=1MiB
// truth: object function=try_out object=module api=cuModuleLoadData made=60 ended=60 alive=0
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

const char kCode[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry run() { ret; }\n";

[[gnu::noinline]] void load()
{
    CUmodule module = nullptr;
    check(cuModuleLoadData(&module, kCode));
    keep_frame();
}

[[gnu::noinline]] void try_out()
{
    CUmodule module = nullptr;
    check(cuModuleLoadData(&module, kCode));
    check(cuModuleUnload(module));
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 64_KiB));
    for (int unit = 0; unit < 60; ++unit) {
        const Range range("unit");
        load();
        try_out();
    }
    check(cudaFree(block));
}
