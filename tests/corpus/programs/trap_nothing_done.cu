// tests/corpus/programs/trap_nothing_done.cu — a program without a CUDA call: nothing was seen,
// which is not clean.
// truth: verdict inconclusive
// truth: processes 0
#include <cstdio>

int main()
{
    std::puts("no GPU memory here");
}
