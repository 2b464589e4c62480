// tests/corpus/programs/trap_child_without_cuda.cu — a child that never uses CUDA, forked while its
// parent does.
// truth: verdict clean
// truth: processes 1
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

int main()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 10000));
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    check(cudaFree(block));
}
