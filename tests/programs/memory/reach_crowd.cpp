// tests/programs/memory/reach_crowd.cpp — many threads and blocks, all held, beside a thread that maps and unmaps.
//
//   reach_crowd THREADS BLOCKS
//
// Each thread has a block on its stack; the others are in a vector. Says "ready", and when its stdin
// ends, how often it mapped memory. Ends 1 if a byte of a MiB that it filled was changed.
#include <algorithm>
#include <atomic>
#include <pthread.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

constexpr std::size_t kBytes = 4096;

CUcontext context;
pthread_barrier_t ready;
std::atomic<bool> ended{false};
std::atomic<unsigned long> mapped{0};

CUdeviceptr allocate()
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, kBytes));
    return block;
}

void hold()
{
    check(cuCtxSetCurrent(context));
    volatile CUdeviceptr block = allocate();
    pthread_barrier_wait(&ready);
    while (block != 0)
        ::pause();
}

// Of all sizes, so that what lies beside it changes as well.
void map_and_unmap()
{
    for (std::size_t pages = 1; !ended; pages = pages % 512 + 1) {
        const std::size_t bytes = pages * kBytes;
        void* const at =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            std::exit(4);
        static_cast<char*>(at)[bytes / 2] = 1;
        ::munmap(at, bytes);
        ++mapped;
    }
}

} // namespace

int main(int count, char** arguments)
{
    if (count != 3)
        return 2;
    const unsigned threads = static_cast<unsigned>(std::atoi(arguments[1]));
    const std::size_t blocks = std::strtoull(arguments[2], nullptr, 10);
    context = primary_context();
    pthread_barrier_init(&ready, nullptr, threads + 1);
    for (unsigned thread = 0; thread < threads; ++thread)
        std::thread(hold).detach();
    pthread_barrier_wait(&ready);
    static std::vector<CUdeviceptr> held;
    for (std::size_t block = threads; block < blocks; ++block)
        held.push_back(allocate());
    const std::vector<char> filled(1 << 20, 'x');
    std::thread mapper(map_and_unmap);
    std::puts("ready");
    std::fflush(stdout);
    while (std::getchar() != EOF) {
    }
    ended = true;
    mapper.join();
    std::printf("%lu\n", mapped.load());
    std::fflush(stdout);
    const bool same = std::all_of(filled.begin(), filled.end(), [](char c) { return c == 'x'; });
    ::_exit(same ? 0 : 1);
}
