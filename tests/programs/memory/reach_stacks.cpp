// tests/programs/memory/reach_stacks.cpp — several stacks in one mapping: of threads, and of coroutines.
//
// Prints "BYTES NAME" for each block, which a local variable holds, and "ready"; ends with its
// stdin. The stack of each next thread lies below that of the one before. Of two coroutines the one
// that waits lies below the one that runs.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/driver_program.hpp"

namespace {

constexpr std::size_t kThreads = 4;
constexpr std::size_t kStackBytes = 256 << 10;

CUcontext context;
ucontext_t first;
ucontext_t second;
unsigned blocks = 0;

[[gnu::noinline]] CUdeviceptr allocate(const char* name)
{
    const std::size_t bytes = 4096 * ++blocks;
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes));
    std::printf("%zu %s\n", bytes, name);
    return block;
}

char* stacks(std::size_t count)
{
    void* const room = mmap(nullptr, count * kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        std::_Exit(5);
    return static_cast<char*>(room);
}

struct Start {
    char name[16];
    pthread_barrier_t* ready;
};

void* hold(void* start)
{
    const Start& mine = *static_cast<Start*>(start);
    check(cuCtxSetCurrent(context));
    volatile CUdeviceptr block = allocate(mine.name);
    pthread_barrier_wait(mine.ready);
    while (block != 0)
        ::pause();
    return nullptr;
}

void start_threads()
{
    static Start starts[kThreads];
    char* const room = stacks(kThreads);
    for (std::size_t at = 0; at < kThreads; ++at) {
        pthread_barrier_t ready;
        pthread_barrier_init(&ready, nullptr, 2);
        starts[at].ready = &ready;
        std::snprintf(starts[at].name, sizeof starts[at].name, "thread_%zu", at);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, room + (kThreads - 1 - at) * kStackBytes, kStackBytes);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, hold, &starts[at]) != 0)
            std::_Exit(6);
        pthread_barrier_wait(&ready);
        usleep(50'000); // until it pauses
    }
}

void wait_in_first()
{
    volatile CUdeviceptr block = allocate("waits");
    swapcontext(&first, &second);
    check(cuMemFree_v2(block));
}

void run_in_second()
{
    volatile CUdeviceptr block = allocate("runs");
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    check(cuMemFree_v2(block));
    std::_Exit(0);
}

} // namespace

int main()
{
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    allocate("first"); // the simulated device's memory begins there
    start_threads();
    char* const room = stacks(2);
    for (ucontext_t* one : {&first, &second}) {
        getcontext(one);
        one->uc_stack.ss_sp = room + (one == &second ? kStackBytes : 0);
        one->uc_stack.ss_size = kStackBytes;
        one->uc_link = nullptr;
    }
    makecontext(&first, wait_in_first, 0);
    makecontext(&second, run_in_second, 0);
    ucontext_t from;
    swapcontext(&from, &first);
    return 7;
}
