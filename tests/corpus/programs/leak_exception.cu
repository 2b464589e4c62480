// tests/corpus/programs/leak_exception.cu — an exception passes the free.
// truth: verdict leaks
// truth: leak function=parse memory=device blocks=3 bytes=3*20000
#include <stdexcept>

#include "tests/corpus/corpus.hpp"

void parse(int record)
{
    void* block = nullptr;
    check(cudaMalloc(&block, 20000));
    if (record % 3 == 0)
        throw std::runtime_error("bad record");
    check(cudaFree(block));
}

int main()
{
    int bad = 0;
    for (int record = 1; record <= 9; ++record)
        try {
            parse(record);
        } catch (const std::runtime_error&) {
            ++bad;
        }
    return bad == 3 ? 0 : 98;
}
