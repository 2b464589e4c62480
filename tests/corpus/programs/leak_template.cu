// tests/corpus/programs/leak_template.cu — one template, two types: two functions.
// truth: verdict leaks
// truth: leak function=upload<float> memory=device blocks=1 bytes=100*4
// truth: leak function=upload<double> memory=device blocks=2 bytes=200*8 rows=2
#include "tests/corpus/corpus.hpp"

template <class T>
__attribute__((noinline)) void upload()
{
    T* block = nullptr;
    check(cudaMalloc(&block, 100 * sizeof(T)));
    check(cudaMemset(block, 0, 100 * sizeof(T)));
}

int main()
{
    upload<float>();
    upload<double>();
    upload<double>();
}
