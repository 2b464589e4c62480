// tests/corpus/programs/leak_recursion.cu — a tree is built by recursion and forgotten: each of its
// nodes has a call path of its own.
// truth: verdict leaks
// truth: leak function=build memory=device blocks=7 bytes=7*2500 rows=7 fingerprints=1
#include "tests/corpus/corpus.hpp"

__attribute__((noinline)) int build(int depth)
{
    void* block = nullptr;
    check(cudaMalloc(&block, 2500));
    if (depth == 2)
        return 1;
    const int left = build(depth + 1);
    return left + build(depth + 1);
}

int main()
{
    return build(0) == 4 ? 0 : 98;
}
