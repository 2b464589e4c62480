// tests/corpus/programs/leak_thread_local.cu — a buffer for each thread; threads end, their buffers
// do not.
// truth: verdict leaks
// truth: leak function=scratch memory=pinned blocks=12 bytes=12*16KiB threads=12
#include <thread>

#include "tests/corpus/corpus.hpp"

thread_local void* buffer = nullptr;

void* scratch()
{
    if (buffer == nullptr)
        check(cudaMallocHost(&buffer, 16_KiB));
    return buffer;
}

int main()
{
    for (int request = 0; request < 12; ++request)
        std::thread([] {
            for (int i = 0; i < 5; ++i)
                scratch();
        }).join();
}
