// tests/corpus/programs/leak_exit_in_thread.cu — exit is called by a worker while main waits.
// truth: verdict leaks
// truth: leak function=worker kind=leaked-at-exit memory=device blocks=1 bytes=333
// truth: leak function=main kind=leaked-at-exit memory=pinned blocks=1 bytes=444
#include <thread>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void worker()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 333));
    std::exit(0);
}

int main()
{
    void* block = nullptr;
    check(cudaMallocHost(&block, 444));
    std::thread thread(worker);
    for (;;)
        pause();
}
