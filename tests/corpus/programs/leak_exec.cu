// tests/corpus/programs/leak_exec.cu — the program becomes another one, and leaves what it had.
// truth: verdict leaks
// truth: leak function=prepare memory=device blocks=1 bytes=1MiB
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void prepare()
{
    void* block = nullptr;
    check(cudaMalloc(&block, 1_MiB));
}

int main()
{
    prepare();
    execl("/bin/true", "true", nullptr);
    return 98;
}
