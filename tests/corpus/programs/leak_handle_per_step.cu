// tests/corpus/programs/leak_handle_per_step.cu — each step makes a handle of a library and forgets
// it; another one is destroyed in its step. The program's own memory is freed.
// truth: verdict leaks
// truth: leak through=step module=libcublas.so.12 blocks=60 bytes=60*300000 class=growing per=step slope=300000
// truth: workspace library=cuBLAS stacks=1 per=step slope=300000
#include <dlfcn.h>
#include <string>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

using Create = void* (*)();
using Destroy = void (*)(void*);

__attribute__((noinline)) void step(Create create, Destroy destroy)
{
    const Range range("step");
    destroy(create());
    create();
}

int main(int, char** argv)
{
    const std::string self = argv[0];
    const std::string path = self.substr(0, self.rfind('/')) + "/libcublas.so.12";
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr)
        return 98;
    const auto create = reinterpret_cast<Create>(dlsym(library, "stand_in_create"));
    const auto destroy = reinterpret_cast<Destroy>(dlsym(library, "stand_in_destroy"));
    void* weights = nullptr;
    check(cudaMalloc(&weights, 1 << 20));
    for (int at = 0; at < 60; ++at)
        step(create, destroy);
    check(cudaFree(weights));
}
