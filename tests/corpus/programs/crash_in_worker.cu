// tests/corpus/programs/crash_in_worker.cu — a worker thread dies by a null pointer; all threads
// had memory in use.
// run: exit=139
// truth: verdict inconclusive
// truth: leak function=work kind=in-use-at-crash memory=device blocks=1 bytes=2222
// truth: leak function=main kind=in-use-at-crash memory=device blocks=1 bytes=1111
#include <csignal>
#include <thread>

#include "tests/corpus/corpus.hpp"

void work()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 2222));
    std::raise(SIGSEGV);
}

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1111));
    std::thread(work).join();
}
