// tests/corpus/programs/leak_one_thread.cu — all threads do the same work; the third one ends
// early.
// truth: verdict leaks
// truth: leak function=work memory=device blocks=1 bytes=7000 threads=1
#include <thread>
#include <vector>

#include "tests/corpus/corpus.hpp"

void work(int number)
{
    for (int i = 0; i < 20; ++i) {
        void* block = nullptr;
        check(cudaMalloc(&block, 7000));
        if (number == 2 && i == 11)
            return;
        check(cudaFree(block));
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number)
        threads.emplace_back(work, number);
    for (std::thread& thread : threads)
        thread.join();
}
