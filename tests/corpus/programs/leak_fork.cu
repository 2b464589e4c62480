// tests/corpus/programs/leak_fork.cu — the child of a fork leaks; its parent, which forked before
// it used CUDA, does not.
// truth: verdict leaks
// truth: leak function=child_work memory=device blocks=1 bytes=12345
// truth: processes 2
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void child_work()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 12345));
}

int main()
{
    const pid_t child = fork();
    if (child == 0) {
        child_work();
        std::exit(0);
    }
    void* block = nullptr;
    check(cudaMalloc(&block, 999));
    check(cudaFree(block));
    waitpid(child, nullptr, 0);
}
