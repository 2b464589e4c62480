// tests/corpus/programs/leak_start_up_and_loop.cu — both at once: what is loaded stays, and each
// step adds to it, in one function by two paths.
// truth: verdict leaks
// truth: leak function=allocate through=load memory=device blocks=20 bytes=20*1MiB class=start-up
// truth: leak function=allocate through=train memory=device blocks=50 bytes=50*512 class=growing per=step slope=512
#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void allocate(size_t bytes)
{
    void* block = nullptr;
    check(cudaMalloc(&block, bytes));
}

void load()
{
    for (int layer = 0; layer < 20; ++layer)
        allocate(1_MiB);
}

void train()
{
    for (int step = 0; step < 50; ++step) {
        const Range range("step");
        allocate(512);
    }
}

int main()
{
    load();
    train();
}
