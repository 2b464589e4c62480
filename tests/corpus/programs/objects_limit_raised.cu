// tests/corpus/programs/objects_limit_raised.cu — the heap of device code is made larger, and the same is said again
// in each step: the driver takes memory for it once, it stays with the context, and nothing piles up. What the
// driver takes late, at the first kernel, no object can be blamed for.
// run: takes=limit=64MiB,first_launch=32MiB
// truth: verdict clean
// truth: object function=raise object=context_limit api=cudaDeviceSetLimit made=1 ended=0 alive=0
// truth: object function=step object=context_limit api=cudaDeviceSetLimit made=60 ended=0 alive=1 class=once|cache|start-up
// truth: object function=main object=module api=cuModuleLoadData made=1 ended=1 alive=0
// truth: waterfall at=end device=0 objects=64MiB unattributed=96MiB
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

const char kCode[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry run() { ret; }\n";

[[gnu::noinline]] void raise()
{
    check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64_MiB));
    keep_frame();
}

[[gnu::noinline]] void step(CUfunction kernel)
{
    const Range range("step");
    check(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64_MiB));
    check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
}

int main()
{
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    void* block = nullptr;
    check(cudaMalloc(&block, 2_MiB)); // a step of the driver's
    check(cuModuleLoadData(&module, kCode));
    check(cuModuleGetFunction(&kernel, module, "run"));
    raise();
    for (int number = 0; number < 60; ++number)
        step(kernel);
    check(cuModuleUnload(module));
    check(cudaFree(block));
}
