// tests/programs/process/lifecycle_threads.cpp — threads by the thousand.
//
// They run one after another, or all at once, or end while others work.
//
// Usage: lifecycle_threads SCENE [NUMBER]. Each thread leaves one block that no other has the size
// of, or none; what the program prints is the same with and without a tracer.
#include <atomic>
#include <climits>
#include <cstring>
#include <link.h>
#include <pthread.h>
#include <semaphore>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/driver_program.hpp"

namespace {

CUcontext context;

void allocate_and_free(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes));
    check(cuMemFree_v2(block));
}

void leave_block(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK left
}

// Two at a time, so that lanes are handed over and fought for.
void churn(int threads)
{
    std::vector<std::thread> pair;
    for (int i = 0; i < threads; ++i) {
        pair.emplace_back([] {
            check(cuCtxSetCurrent(context));
            allocate_and_free(512);
        });
        if (pair.size() == 2) {
            for (std::thread& thread : pair)
                thread.join();
            pair.clear();
        }
    }
    for (std::thread& thread : pair)
        thread.join();
}

// With stacks of the size that a program with so many gives them.
struct Gate {
    std::counting_semaphore<> all_here{0};
    std::atomic<bool> open{false};
};

void* wait_with_block(void* argument)
{
    auto& gate = *static_cast<Gate*>(argument);
    check(cuCtxSetCurrent(context));
    leave_block(512);
    gate.all_here.release();
    gate.open.wait(false);
    allocate_and_free(1024);
    return nullptr;
}

void at_once(int threads)
{
    Gate gate;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    std::vector<pthread_t> all(static_cast<std::size_t>(threads));
    for (pthread_t& thread : all)
        if (pthread_create(&thread, &attributes, wait_with_block, &gate) != 0)
            std::exit(6);
    for (int i = 0; i < threads; ++i)
        gate.all_here.acquire();
    gate.open = true;
    gate.open.notify_all();
    for (const pthread_t thread : all)
        pthread_join(thread, nullptr);
}

// Three threads allocate without end while others come and go among them.
void leave_others_at_work(int threads)
{
    std::atomic<bool> stop{false};
    std::atomic<int> pairs{0};
    std::vector<std::thread> workers;
    for (int i = 0; i < 3; ++i)
        workers.emplace_back([&] {
            check(cuCtxSetCurrent(context));
            for (; !stop || pairs < 3000; ++pairs)
                allocate_and_free(256);
        });
    for (int i = 0; i < threads; ++i)
        std::thread([i] {
            check(cuCtxSetCurrent(context));
            allocate_and_free(512);
            leave_block(1024);
            if (i % 2)
                pthread_exit(nullptr);
        }).join();
    stop = true;
    for (std::thread& worker : workers)
        worker.join();
    std::fprintf(stderr, "pairs %d\n", pairs.load());
}

// The smallest stack there is: what is left of it is all that a hook has.
void* allocate_on_small_stack(void*)
{
    primary_context();
    leave_block(512);
    allocate_and_free(1024);
    return nullptr;
}

void small_stacks(int threads)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)) != 0)
        std::exit(6);
    for (int i = 0; i < threads; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, allocate_on_small_stack, nullptr) != 0)
            std::exit(6);
        pthread_join(thread, nullptr);
    }
}

[[gnu::noinline]] void descend(int frames)
{
    if (frames > 0)
        descend(frames - 1);
    else
        leave_block(512);
    std::fflush(stdout); // keeps the call from being a jump
}

// On a stack that holds it, from the deepest frame: at the third time it is remembered.
void* descend_thrice(void* frames)
{
    check(cuCtxSetCurrent(context));
    for (int round = 0; round < 3; ++round)
        descend(*static_cast<int*>(frames));
    return nullptr;
}

void deep(int frames)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{64} << 20);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, descend_thrice, &frames) != 0)
        std::exit(6);
    pthread_join(thread, nullptr);
}

// What another thread holds at a fork, nobody lets go of in the child.
void fork_in_loader(int children)
{
    struct Meeting {
        std::binary_semaphore held{0}, release{0};
    } meeting;
    std::thread holder([&meeting] {
        const auto meet = [](dl_phdr_info*, std::size_t, void* data) {
            static_cast<Meeting*>(data)->held.release();
            static_cast<Meeting*>(data)->release.acquire();
            return 1;
        };
        dl_iterate_phdr(meet, &meeting);
    });
    meeting.held.acquire();
    for (; children > 0; --children) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); // so that it does not wait for ever
            context = primary_context();
            allocate_and_free(512);
            leave_block(512);
            _exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        std::printf("ended with %d\n", status);
    }
    meeting.release.release();
    holder.join();
}

const struct {
    const char* name;
    void (*play)(int number);
    bool opens = true; // first a context of the main thread
} kScenes[] = {
    {"churn", churn},
    {"at_once", at_once},
    {"leave_others_at_work", leave_others_at_work},
    {"small_stacks", small_stacks, false}, // the first such thread opens the log
    {"deep", deep},
    {"fork_in_loader", fork_in_loader, false},
};

} // namespace

int main(int argc, char** argv)
{
    if (argc != 3)
        return 2;
    for (const auto& scene : kScenes)
        if (std::strcmp(scene.name, argv[1]) == 0) {
            if (scene.opens)
                context = primary_context();
            scene.play(std::atoi(argv[2]));
            std::printf("%s %s done\n", argv[1], argv[2]);
            return 0;
        }
    return 2;
}
