// tests/corpus/programs/advice_grow_by_copy.cu — a buffer takes twice its size, is copied, and only
// then is the old one freed.
// truth: verdict clean
// truth: advice function=reserve kind=grow-by-copy saving_bytes=32MiB blocks=1
#include "tests/corpus/corpus.hpp"

struct Buffer {
    void* data = nullptr;
    std::size_t bytes = 0;
};

[[gnu::noinline]] void reserve(Buffer& buffer, std::size_t bytes)
{
    void* larger = nullptr;
    check(cudaMalloc(&larger, bytes));
    if (buffer.data) {
        check(cudaMemcpy(larger, buffer.data, buffer.bytes, cudaMemcpyDeviceToDevice));
        check(cudaFree(buffer.data));
    }
    buffer = {larger, bytes};
}

int main()
{
    Buffer buffer;
    for (const std::size_t bytes : {8_MiB, 16_MiB, 32_MiB, 64_MiB})
        reserve(buffer, bytes);
    check(cudaFree(buffer.data));
}
