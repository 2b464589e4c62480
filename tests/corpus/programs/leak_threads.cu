// tests/corpus/programs/leak_threads.cu — each of four threads leaves as many blocks as its number.
// truth: verdict leaks
// truth: leak function=work memory=device blocks=1+2+3+4 bytes=10*10000 threads=4 class=growing|several|unclear|start-up
#include <thread>
#include <vector>

#include "tests/corpus/corpus.hpp"

void work(int number)
{
    for (int i = 0; i < 8; ++i) {
        void* block = nullptr;
        check(cudaMalloc(&block, 10000));
        if (i >= number)
            check(cudaFree(block));
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int number = 1; number <= 4; ++number)
        threads.emplace_back(work, number);
    for (std::thread& thread : threads)
        thread.join();
}
