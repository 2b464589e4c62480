// tests/corpus/programs/leak_module_of_many_callers.cu — a function that allocates at three of its
// lines is no wrapper, whoever calls it.
// truth: verdict leaks
// truth: leak headline=attention rows=9 blocks=9 bytes=3*1MiB+3*2MiB+3*4MiB
// truth: sum function=attention blocks=9 bytes=21MiB
#include "tests/corpus/corpus.hpp"

[[gnu::noinline]] void attention()
{
    void* query = nullptr;
    void* key = nullptr;
    void* value = nullptr;
    check(cudaMalloc(&query, 1_MiB));
    check(cudaMalloc(&key, 2_MiB));
    check(cudaMalloc(&value, 4_MiB));
}

[[gnu::noinline]] void encoder()
{
    attention();
    keep_frame();
}

[[gnu::noinline]] void decoder()
{
    attention();
    keep_frame();
}

[[gnu::noinline]] void cross()
{
    attention();
    keep_frame();
}

int main()
{
    encoder();
    decoder();
    cross();
}
