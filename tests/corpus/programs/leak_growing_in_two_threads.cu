// tests/corpus/programs/leak_growing_in_two_threads.cu — two workers with steps of their own leak
// in each of them.
// truth: verdict leaks
// truth: leak function=serve memory=device blocks=80 bytes=80*6KiB class=growing threads=2
#include <thread>

#include "tests/corpus/corpus.hpp"
#include "tests/corpus/ranges.hpp"

void serve()
{
    for (int i = 0; i < 40; ++i) {
        const Range range("serve");
        void* block = nullptr;
        check(cudaMalloc(&block, 6_KiB));
    }
}

int main()
{
    std::thread one(serve);
    std::thread two(serve);
    one.join();
    two.join();
}
