// tests/programs/process/ends.cpp — allocates on two threads, then ends in the way it is told.
//
// Usage: ends WAY [PROGRAM ARGS...]. Main thread: three blocks, one freed. Another thread, which is
// alive to the end: two blocks. Every call has returned when the end comes, so a log that lacks one
// of them lost it.
#include <atomic>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

void work()
{
    const CUcontext context = primary_context();
    static std::atomic<bool> done{false};
    const CUdeviceptr blocks[3] = {allocate(1000), allocate(2000), allocate(3000)};
    check(cuMemFree_v2(blocks[1]));
    std::thread([context] {
        check(cuCtxSetCurrent(context));
        allocate(40000);
        allocate(50000);
        done = true;
        for (;;)
            pause();
    }).detach();
    while (!done)
        std::this_thread::yield();
}

int status_of(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

void fork_a_child_without_cuda()
{
    work();
    const pid_t child = fork();
    if (child == 0)
        std::exit(0);
    status_of(child);
    allocate(600);
}

// Neither has touched CUDA when they part; each then works on its own.
void fork_before_cuda()
{
    const pid_t child = fork();
    work();
    if (child != 0)
        status_of(child);
}

// In the child, where CUDA does not work: it may try, and what it does is not its parent's. The
// parent goes on after it.
void try_in_child(pid_t child)
{
    if (child == 0) {
        CUdeviceptr block = 0;
        cuMemAlloc_v2(&block, 70000);
        _exit(0);
    }
    status_of(child);
    allocate(600);
}

void fork_a_child_that_tries()
{
    work();
    try_in_child(fork());
}

// Forks again and again while other threads allocate and free; each child exits with all its
// handlers.
void fork_among_threads()
{
    const CUcontext context = primary_context();
    std::atomic<bool> stop{false};
    std::atomic<int> pairs{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&] {
            check(cuCtxSetCurrent(context));
            for (; !stop; ++pairs)
                check(cuMemFree_v2(allocate(512)));
        });
    for (int i = 0; i < 50; ++i) {
        const pid_t child = fork();
        if (child == 0)
            std::exit(0);
        status_of(child);
    }
    stop = true;
    for (std::thread& thread : threads)
        thread.join();
    std::printf("%d\n", pairs.load());
}

// Returns while other threads allocate and free, as programs with workers do.
void leave_busy_threads()
{
    const CUcontext context = primary_context();
    static std::atomic<int> pairs{0};
    for (int i = 0; i < 3; ++i)
        std::thread([context] {
            check(cuCtxSetCurrent(context));
            CUdeviceptr block = 0;
            for (;
                 cuMemAlloc_v2(&block, 512) == CUDA_SUCCESS && cuMemFree_v2(block) == CUDA_SUCCESS;
                 ++pairs) {
            } // the driver ends before these threads do
        }).detach();
    while (pairs < 1000)
        std::this_thread::yield();
}

void vfork_and_exec()
{
    work();
    const pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", static_cast<char*>(nullptr));
        _exit(127);
    }
    status_of(child);
    allocate(600);
}

// Raw, as sandboxes and runtimes do it: libc's fork handlers do not run. The child's own call fails
// or not; it is not its parent's.
void clone_a_child_that_tries()
{
    work();
    try_in_child(static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0)));
}

// In its parent's memory, on a stack of its own, at the same time.
void clone_into_own_memory()
{
    work();
    static char stack[256 * 1024];
    const pid_t child =
        clone([](void*) { return 0; }, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr);
    status_of(child);
    allocate(600);
}

// The usual way to start another program, which may use CUDA.
void fork_and_exec(char** command)
{
    work();
    const pid_t child = fork();
    if (child == 0) {
        execv(command[0], command);
        _exit(127);
    }
    if (status_of(child) != 0)
        std::exit(8);
    allocate(600);
}

// The child closes what it inherited, as a daemon does, and writes to files that get those numbers.
void fork_and_reuse_descriptors()
{
    work();
    const pid_t child = fork();
    if (child == 0) {
        closefrom(STDERR_FILENO + 1);
        for (int number = STDERR_FILENO + 1; number < 20; ++number) {
            char name[16];
            std::snprintf(name, sizeof name, "child.%d", number);
            if (open(name, O_CREAT | O_RDWR, 0600) != number || write(number, "child", 5) != 5)
                _exit(1);
        }
        CUdeviceptr block = 0;
        cuMemAlloc_v2(&block, 70000);
        _exit(0);
    }
    if (status_of(child) != 0)
        std::exit(8);
    allocate(600);
}

// The child of a vfork lives in its parent's memory: its _exit is not its parent's end.
void vfork_and_leave()
{
    work();
    const pid_t child = vfork();
    if (child == 0)
        _exit(9);
    status_of(child);
    allocate(600);
}

[[gnu::noinline]] void write_to(volatile int* nowhere)
{
    *nowhere = 1;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return 2;
    const auto is = [argv](const char* way) { return std::strcmp(argv[1], way) == 0; };
    if (is("fork_without_cuda"))
        return fork_a_child_without_cuda(), 0;
    if (is("fork_before_cuda"))
        return fork_before_cuda(), 0;
    if (is("fork_that_tries"))
        return fork_a_child_that_tries(), 0;
    if (is("fork_among_threads"))
        return fork_among_threads(), 0;
    if (is("busy_threads"))
        return leave_busy_threads(), 7;
    if (is("vfork_exec"))
        return vfork_and_exec(), 0;
    if (is("clone_that_tries"))
        return clone_a_child_that_tries(), 0;
    if (is("clone_vm"))
        return clone_into_own_memory(), 0;
    if (is("fork_exec"))
        return fork_and_exec(argv + 2), 0;
    if (is("fork_reuses_descriptors"))
        return fork_and_reuse_descriptors(), 0;
    if (is("vfork_leave"))
        return vfork_and_leave(), 0;
    work();
    if (is("return"))
        return 7;
    if (is("exit"))
        std::exit(7);
    if (is("_exit"))
        _exit(7);
    if (is("_Exit"))
        std::_Exit(7);
    if (is("quick_exit"))
        std::quick_exit(7);
    if (is("abort"))
        std::abort();
    if (is("SIGSEGV"))
        write_to(nullptr);
    if (is("SIGTERM"))
        raise(SIGTERM);
    if (is("SIGKILL"))
        raise(SIGKILL);
    if (is("exec"))
        execv(argv[2], argv + 2);
    return 2;
}
