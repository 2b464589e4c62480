// tests/corpus/programs/import_ipc_unclosed.cu — another process's memory is opened twice and
// closed once.
// truth: verdict leaks
// truth: import function=open_twice memory=ipc blocks=1 bytes=64KiB process=consumer
// truth: processes 2
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

void open_twice(const cudaIpcMemHandle_t& handle)
{
    for (int times = 0; times < 2; ++times) {
        void* block = nullptr;
        check(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess));
        if (times == 0)
            check(cudaIpcCloseMemHandle(block));
    }
}

int main(int argc, char** argv)
{
    cudaIpcMemHandle_t handle{};
    if (argc == 2) { // the consumer: its input is the handle
        if (read(STDIN_FILENO, &handle, sizeof handle) != sizeof handle)
            return 98;
        open_twice(handle);
        return 0;
    }
    void* block = nullptr;
    int pipe_ends[2];
    check(cudaMalloc(&block, 64_KiB));
    check(cudaIpcGetMemHandle(&handle, block));
    if (pipe(pipe_ends) != 0 || write(pipe_ends[1], &handle, sizeof handle) != sizeof handle)
        return 98;
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipe_ends[0], STDIN_FILENO);
        execl(argv[0], argv[0], "consumer", nullptr);
        _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(cudaFree(block));
    return status == 0 ? 0 : 98;
}
