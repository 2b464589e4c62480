// tests/corpus/programs/objects_code_fills_the_device.cu — nothing but code is loaded, for each work unit, and is never
// unloaded: each takes 1 MiB, two of them a step of the driver's.
// run: takes=module=1MiB
// truth: verdict clean
// truth: object function=load object=module api=cuModuleLoadData made=40 ended=0 alive=40 class=growing per=unit each=1MiB
// truth: waterfall at=end device=0 objects=20*2MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

[[gnu::noinline]] void load()
{
    static const char kCode[] =
        ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry run() { ret; }\n";
    CUmodule module = nullptr;
    check(cuModuleLoadData(&module, kCode));
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 64_KiB));
    for (int number = 0; number < 40; ++number) {
        const Range range("unit");
        load();
    }
    check(cudaFree(block));
}
