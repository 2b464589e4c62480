// tests/differential/player/exporter.cpp — a second process, whose memory the player opens by IPC.
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

constexpr std::size_t kExported = 4;

// Leaves out what is preloaded here: the other process does not belong to the test.
std::vector<char*> plain_environment()
{
    std::vector<char*> kept;
    for (char** entry = environ; *entry; ++entry)
        if (std::strncmp(*entry, "LD_PRELOAD=", 11) != 0)
            kept.push_back(*entry);
    kept.push_back(nullptr);
    return kept;
}

std::vector<CUipcMemHandle> spawn()
{
    std::vector<CUipcMemHandle> handles(kExported);
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        std::abort();
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
    char name[] = "differential_player", option[] = "--export-memory";
    char* arguments[] = {name, option, nullptr};
    std::vector<char*> environment = plain_environment();
    pid_t child = 0;
    if (posix_spawn(&child, "/proc/self/exe", &files, nullptr, arguments, environment.data()) != 0)
        std::abort();
    posix_spawn_file_actions_destroy(&files);
    close(to[0]);
    close(from[1]);
    const std::size_t bytes = handles.size() * sizeof handles[0];
    // One write of less than a pipe holds arrives whole. to[1] stays open as long as we live.
    if (read(from[0], handles.data(), bytes) != static_cast<ssize_t>(bytes))
        std::abort();
    close(from[0]);
    return handles;
}

} // namespace

const std::vector<CUipcMemHandle>& exported_by_another()
{
    static const auto* handles = new std::vector<CUipcMemHandle>(spawn());
    return *handles;
}

int export_memory()
{
    CUcontext context = nullptr;
    CUipcMemHandle handles[kExported];
    if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != CUDA_SUCCESS)
        return 3;
    for (CUipcMemHandle& handle : handles) {
        CUdeviceptr block = 0;
        if (cuMemAlloc_v2(&block, 2 << 20) != CUDA_SUCCESS ||
            cuIpcGetMemHandle(&handle, block) != CUDA_SUCCESS)
            return 3;
    }
    if (write(STDOUT_FILENO, handles, sizeof handles) != static_cast<ssize_t>(sizeof handles))
        return 3;
    char end = 0;
    return read(STDIN_FILENO, &end, 1) == 0 ? 0 : 3;
}

} // namespace differential
