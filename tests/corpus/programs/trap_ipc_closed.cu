// tests/corpus/programs/trap_ipc_closed.cu — another process's memory, opened and closed.
// truth: verdict clean
// truth: processes 2
#include <sys/wait.h>
#include <unistd.h>

#include "tests/corpus/corpus.hpp"

int main(int argc, char** argv)
{
    cudaIpcMemHandle_t handle{};
    void* block = nullptr;
    if (argc == 2) { // the consumer: its input is the handle
        if (read(STDIN_FILENO, &handle, sizeof handle) != sizeof handle)
            return 98;
        check(cudaIpcOpenMemHandle(&block, handle, cudaIpcMemLazyEnablePeerAccess));
        check(cudaIpcCloseMemHandle(block));
        return 0;
    }
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
