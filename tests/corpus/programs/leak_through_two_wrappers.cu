// tests/corpus/programs/leak_through_two_wrappers.cu — a buffer is made by a class, which asks a
// function; three owners forget theirs.
// truth: verdict leaks
// truth: leak headline=weights through=allocate blocks=1 bytes=1MiB
// truth: leak headline=gradients through=allocate blocks=1 bytes=2MiB
// truth: leak headline=optimizer through=allocate blocks=1 bytes=3MiB
#include "tests/corpus/corpus.hpp"

// Where it is short it tries once more, so it allocates in two lines.
[[gnu::noinline]] void* allocate(std::size_t bytes)
{
    void* block = nullptr;
    if (cudaMalloc(&block, bytes) == cudaSuccess)
        return block;
    check(cudaMalloc(&block, bytes));
    return block;
}

struct Buffer {
    void* data;
    [[gnu::noinline]] explicit Buffer(std::size_t bytes) : data(allocate(bytes)) { keep_frame(); }
};

[[gnu::noinline]] void weights()
{
    const Buffer forgotten(1_MiB);
    keep_frame();
}

[[gnu::noinline]] void gradients()
{
    const Buffer forgotten(2_MiB);
    keep_frame();
}

[[gnu::noinline]] void optimizer()
{
    const Buffer forgotten(3_MiB);
    keep_frame();
}

int main()
{
    weights();
    gradients();
    optimizer();
}
