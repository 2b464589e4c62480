// tests/corpus/programs/leak_released_pointer.cu — unique_ptr::release is not reset.
// truth: verdict leaks
// truth: leak function=make_block memory=device blocks=1 bytes=8KiB
#include <memory>

#include "tests/corpus/corpus.hpp"

struct Free {
    void operator()(char* block) const { check(cudaFree(block)); }
};

std::unique_ptr<char, Free> make_block()
{
    char* block = nullptr;
    check(cudaMalloc(&block, 8_KiB));
    return std::unique_ptr<char, Free>(block);
}

int main()
{
    auto first = make_block();
    auto second = make_block();
    first.reset();
    second.release();
}
