// tests/corpus/programs/leak_pinned_growing.cu — each batch pins its own memory and unpins half of
// it.
// truth: verdict leaks
// truth: leak function=pin memory=registered blocks=20 bytes=20*8KiB class=growing per=batch slope=4KiB
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

alignas(4096) char memory[40][8192];

void pin(int batch)
{
    check(cudaHostRegister(memory[batch], 8_KiB, cudaHostRegisterDefault));
}

int main()
{
    for (int batch = 0; batch < 40; ++batch) {
        const Range range("batch");
        pin(batch);
        if (batch % 2 == 1)
            check(cudaHostUnregister(memory[batch]));
    }
}
