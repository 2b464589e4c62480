// tests/corpus/programs/leak_helper_of_two_callers.cu — a function that two others call is a place
// like any other.
// truth: verdict leaks
// truth: leak headline=take through=first blocks=3 bytes=3*1MiB
// truth: leak headline=take through=second blocks=1 bytes=1MiB
// truth: sum function=take blocks=4 bytes=4MiB
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void take()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
}

[[gnu::noinline]] void first()
{
    for (int turn = 0; turn < 3; ++turn)
        take();
    keep_frame();
}

[[gnu::noinline]] void second()
{
    take();
    keep_frame();
}

int main()
{
    first();
    second();
}
