// tests/corpus/programs/leak_by_thread_start.cu — eight workers take a buffer each when they begin,
// and work on: never freed, and no growth.
// truth: verdict leaks
// truth: leak function=begin memory=device blocks=8 bytes=8*1MiB class=start-up|several threads=8
#include <atomic>
#include <thread>
#include <vector>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

std::atomic<int> begun{0};

void begin()
{
    void* buffer = nullptr;
    check(cudaMalloc(&buffer, 1_MiB));
}

void work()
{
    begin();
    ++begun;
    while (begun < 8) // all begin before any works
        std::this_thread::yield();
    for (int task = 0; task < 50; ++task) {
        const Range range("task");
        void* block = nullptr;
        check(cudaMalloc(&block, 10_KiB));
        check(cudaFree(block));
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number)
        threads.emplace_back(work);
    for (std::thread& thread : threads)
        thread.join();
}
