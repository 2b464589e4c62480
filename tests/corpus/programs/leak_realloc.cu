// tests/corpus/programs/leak_realloc.cu — a buffer that is made larger without a free of the
// smaller ones.
// truth: verdict leaks
// truth: leak function=Buffer::need memory=device blocks=7 bytes=1KiB+2KiB+4KiB+8KiB+16KiB+32KiB+64KiB
#include "tests/corpus/corpus.hpp"

struct Buffer {
    char* data = nullptr;
    size_t bytes = 0;

    void need(size_t wanted)
    {
        if (wanted <= bytes)
            return;
        char* larger = nullptr;
        check(cudaMalloc(&larger, wanted));
        if (data != nullptr)
            check(cudaMemcpy(larger, data, bytes, cudaMemcpyDeviceToDevice));
        data = larger; // the old one is lost
        bytes = wanted;
    }
};

int main()
{
    Buffer buffer;
    for (size_t bytes = 1_KiB; bytes <= 128_KiB; bytes *= 2)
        buffer.need(bytes);
    check(cudaFree(buffer.data));
}
