// tests/corpus/programs/trap_seven_layers.cu — seven layers of different sizes are loaded and
// forgotten: no loop, and no growth.
// truth: verdict leaks
// truth: leak function=load blocks=7 bytes=7*1MiB+21*256KiB class=several|start-up
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void load(std::size_t layer)
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB + layer * 256_KiB));
}

int main()
{
    for (std::size_t layer = 0; layer < 7; ++layer)
        load(layer * 3 % 7);
}
