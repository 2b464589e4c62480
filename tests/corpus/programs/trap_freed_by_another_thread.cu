// tests/corpus/programs/trap_freed_by_another_thread.cu — one thread produces, another consumes and
// frees.
// truth: verdict clean
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>

#include "tests/corpus/corpus.hpp"

std::mutex mutex;
std::condition_variable changed;
std::queue<void*> blocks; // at most 8

void produce()
{
    for (int i = 0; i <= 100; ++i) {
        void* block = nullptr;
        if (i < 100)
            check(cudaMalloc(&block, 10000));
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return blocks.size() < 8; });
        blocks.push(block); // the last one is null
        changed.notify_all();
    }
}

void consume()
{
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return !blocks.empty(); });
        void* const block = blocks.front();
        blocks.pop();
        changed.notify_all();
        if (block == nullptr)
            return;
        check(cudaFree(block));
    }
}

int main()
{
    std::thread producer(produce);
    std::thread consumer(consume);
    producer.join();
    consumer.join();
}
