// tests/corpus/programs/crash_of_child.cu — the parent is clean; its child is killed with memory in
// use: the whole is not clean.
// truth: verdict inconclusive
// truth: leak function=child_work kind=in-use-at-crash memory=device blocks=1 bytes=6KiB
// truth: processes 2
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void child_work()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 6_KiB));
    std::raise(SIGKILL);
}

int main()
{
    const pid_t child = fork();
    if (child == 0)
        child_work();
    void* block = nullptr;
    waitpid(child, nullptr, 0);
    check(cudaMalloc(&block, 1000));
    check(cudaFree(block));
}
