// tests/programs/memory/live.cpp — does what it is told on stdin, a line at a time.
//
// After each line it says "done", and tests look at it before they write the next one.
//
// hold BYTES COUNT; host BYTES COUNT; drop COUNT, of what it holds, the newest first; twice COUNT, a
// free again of what was dropped last; churn COUNT THREADS, pairs of an allocation and its free in
// each thread; exec PROGRAM; nothing, before which CUDA is not called; handover, the first thread
// ends and another obeys from then on; end.
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

std::vector<CUdeviceptr> held;
CUdeviceptr dropped = 0;

[[gnu::noinline]] void hold(std::size_t bytes, int count)
{
    for (int i = 0; i < count; ++i) {
        CUdeviceptr block = 0;
        check(cuMemAlloc_v2(&block, bytes)); // MARK hold
        held.push_back(block);
    }
}

[[gnu::noinline]] void hold_on_host(std::size_t bytes, int count)
{
    for (int i = 0; i < count; ++i) {
        void* block = nullptr;
        check(cuMemHostAlloc(&block, bytes, 0)); // MARK host
    }
}

void drop(int count)
{
    for (; count > 0 && !held.empty(); --count) {
        check(cuMemFree_v2(held.back()));
        dropped = held.back();
        held.pop_back();
    }
}

void free_again(int count)
{
    for (; count > 0; --count)
        cuMemFree_v2(dropped); // MARK twice
}

void churn(CUcontext context, int count, int threads)
{
    std::vector<std::thread> running;
    for (int thread = 0; thread < threads; ++thread)
        running.emplace_back([=] {
            check(cuCtxSetCurrent(context));
            for (int i = 0; i < count; ++i) {
                CUdeviceptr block = 0;
                check(cuMemAlloc_v2(&block, 4096)); // MARK churn
                check(cuMemFree_v2(block));
            }
        });
    for (std::thread& thread : running)
        thread.join();
}

} // namespace

namespace {

bool obey(CUcontext context);

bool first_has_ended()
{
    std::ifstream file("/proc/self/stat"); // "1234 (live) Z …"
    std::string number, name, state;
    file >> number >> name >> state;
    return state == "Z";
}

[[noreturn]] void hand_over(CUcontext context)
{
    std::thread([context] {
        check(cuCtxSetCurrent(context));
        while (!first_has_ended())
            ::usleep(1000);
        std::cout << "done" << std::endl;
        std::exit(obey(context) ? 0 : 2);
    }).detach();
    ::pthread_exit(nullptr);
}

// False: an order is none.
bool obey(CUcontext context)
{
    for (std::string what; std::cin >> what && what != "end";) {
        std::size_t bytes = 0;
        int count = 0;
        int threads = 0;
        std::string program;
        if (!context && what != "exec" && what != "nothing")
            context = primary_context();
        if (what == "hold" && std::cin >> bytes >> count)
            hold(bytes, count);
        else if (what == "host" && std::cin >> bytes >> count)
            hold_on_host(bytes, count);
        else if (what == "drop" && std::cin >> count)
            drop(count);
        else if (what == "twice" && std::cin >> count)
            free_again(count);
        else if (what == "churn" && std::cin >> count >> threads)
            churn(context, count, threads);
        else if (what == "exec" && std::cin >> program)
            ::execlp(program.c_str(), program.c_str(), nullptr);
        else if (what == "handover")
            hand_over(context);
        else if (what != "nothing")
            return false;
        std::cout << "done" << std::endl;
    }
    return true;
}

} // namespace

int main()
{
    return obey(nullptr) ? 0 : 2;
}
