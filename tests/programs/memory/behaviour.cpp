// tests/programs/memory/behaviour.cpp — programs that do what is easy to get wrong: reuse, threads,
// failures, bad frees.
//
// Usage: behaviour SCENE. What the driver answered goes to stdout, so that it can be compared with
// an untraced run.
#include <barrier>
#include <cerrno>
#include <pthread.h>
#include <thread>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

void free_by_another_thread()
{
    const CUcontext context = primary_context();
    const CUdeviceptr block = allocate(4096);
    std::thread([context, block] {
        check(cuCtxSetCurrent(context));
        check(cuMemFree_v2(block));
    }).join();
}

// The second tenant of the address is the one that leaks.
void reuse()
{
    primary_context();
    CUdeviceptr first = 0, second = 0;
    check(cuMemAlloc_v2(&first, 4096)); // MARK first_tenant
    check(cuMemFree_v2(first));
    check(cuMemAlloc_v2(&second, 4096)); // MARK second_tenant
    std::printf("%s\n", first == second ? "reused" : "another address");
}

constexpr CUdeviceptr kUntouched = 0x1234;

void tell_pointer(CUdeviceptr block)
{
    std::printf("the pointer is %s\n", block == 0            ? "null"
                                       : block == kUntouched ? "untouched"
                                                             : "set");
}

void out_of_memory()
{
    primary_context();
    CUdeviceptr block = kUntouched;
    tell("alloc", cuMemAlloc_v2(&block, std::size_t{1} << 44)); // MARK out_of_memory
    tell_pointer(block);
}

void bad_arguments()
{
    primary_context();
    CUdeviceptr block = kUntouched;
    tell("no bytes", cuMemAlloc_v2(&block, 0));
    tell("no pointer", cuMemAlloc_v2(nullptr, 4096));
    tell("free of null", cuMemFree_v2(0));
    block = allocate(4096);
    tell("free", cuMemFree_v2(block));
    tell("free again", cuMemFree_v2(block));
    tell("free of nothing", cuMemFree_v2(0x4242));
    tell("free of host nothing", cuMemFreeHost(&block));
}

void without_init()
{
    CUdeviceptr block = kUntouched;
    tell("alloc", cuMemAlloc_v2(&block, 4096));
    tell_pointer(block);
}

void without_context()
{
    first_device();
    CUdeviceptr block = kUntouched;
    tell("alloc", cuMemAlloc_v2(&block, 4096));
    tell_pointer(block);
}

// Each thread frees what it allocates but for one block; all are gone before the program ends.
void many_threads()
{
    const CUcontext context = primary_context();
    std::vector<std::thread> threads;
    for (int i = 0; i < 64; ++i)
        threads.emplace_back([context] {
            check(cuCtxSetCurrent(context));
            for (int step = 0; step < 100; ++step)
                check(cuMemFree_v2(allocate(512)));
            CUdeviceptr left = 0;
            check(cuMemAlloc_v2(&left, 512)); // MARK left_by_thread
        });
    for (std::thread& thread : threads)
        thread.join();
}

[[gnu::noinline]] void one_caller()
{
    allocate(512); // MARK one_caller
    std::fflush(stdout);
}

[[gnu::noinline]] void another_caller(int depth)
{
    if (depth > 0)
        another_caller(depth - 1);
    else
        allocate(1024); // MARK another_caller
    std::fflush(stdout);
}

// By turns, from the same line of allocate(): the stack of one must not be taken for the other's.
void callers_by_turns()
{
    primary_context();
    for (int round = 0; round < 3000; ++round) {
        one_caller();
        another_caller(round % 2);
    }
}

// No thread has used CUDA before; all begin at the same moment.
void all_at_once()
{
    constexpr int kThreads = 16;
    std::barrier start(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&start] {
            start.arrive_and_wait();
            primary_context();
            check(cuMemFree_v2(allocate(512)));
            allocate(1024);
        });
    for (std::thread& thread : threads)
        thread.join();
}

void keeps_errno()
{
    errno = ENOTTY;
    check(cuInit(0)); // opens the log, which asks for files that are not there
    std::printf("errno after init %d\n", errno == ENOTTY);
    primary_context();
    errno = EDOM;
    CUdeviceptr blocks[20]; // the first calls are timed, and most of the later ones not
    for (CUdeviceptr& block : blocks)
        block = allocate(4096);
    std::printf("errno after alloc %d\n", errno == EDOM);
    errno = ERANGE;
    for (const CUdeviceptr block : blocks)
        check(cuMemFree_v2(block));
    std::printf("errno after free %d\n", errno == ERANGE);
    errno = EDOM;
    const CUresult again = cuMemFree_v2(blocks[0]);
    std::printf("errno after refused free %d\n", again != CUDA_SUCCESS && errno == EDOM);
}

// A cuInit that fails while the log is open already.
void init_again()
{
    primary_context();
    errno = EDOM;
    std::printf("wrong flags %d\n", cuInit(1));
    std::printf("errno after it %d\n", errno == EDOM);
    allocate(4096);
}

// Runs on device 1 of two.
void second_device()
{
    CUcontext context = nullptr;
    CUdevice device = 0;
    first_device();
    check(cuDeviceGet(&device, 1));
    check(cuCtxCreate_v2(&context, 0, device));
    allocate(4096);
}

// Memory and objects of device 1, though a context of device 0 is current.
void on_another_device()
{
    CUcontext other = nullptr;
    primary_context();
    check(cuDevicePrimaryCtxRetain(&other, 1));
    CUmemPoolProps pool_props{};
    pool_props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    pool_props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUmemoryPool pool = nullptr;
    check(cuMemPoolCreate(&pool, &pool_props));
    CUdeviceptr block = 0;
    check(cuMemAllocFromPoolAsync(&block, 3 << 20, pool, nullptr));
    CUmemAllocationProp props{};
    props.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CUmemGenericAllocationHandle physical = 0;
    check(cuMemCreate(&physical, 2 << 20, &props, 0));
#if CUDA_VERSION >= 12040
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    check(cuDeviceGetDevResource(1, &all, CU_DEV_RESOURCE_TYPE_SM));
    check(cuDevResourceGenerateDesc(&description, &all, 1));
    CUgreenCtx green = nullptr;
    check(cuGreenCtxCreate(&green, description, 1, CU_GREEN_CTX_DEFAULT_STREAM));
#endif
}

// Freed when exit handlers already run, as caches of real programs are.
void freed_by_destructor()
{
    primary_context();
    static const struct Cache {
        CUdeviceptr block = allocate(4096);
        ~Cache() { check(cuMemFree_v2(block)); }
    } cache;
}

// Freed when a thread is nearly gone: first what is thread_local, then what its keys hold.
void freed_by_thread_end()
{
    static pthread_key_t key;
    static CUcontext context = primary_context();
    pthread_key_create(&key, [](void* block) {
        check(cuCtxSetCurrent(context));
        check(cuMemFree_v2(reinterpret_cast<CUdeviceptr>(block)));
    });
    std::thread([] {
        check(cuCtxSetCurrent(context));
        thread_local const struct Cache {
            CUdeviceptr block = allocate(4096);
            ~Cache() { check(cuMemFree_v2(block)); }
        } cache;
        pthread_setspecific(key, reinterpret_cast<void*>(allocate(8192)));
    }).join();
}

const Scene kScenes[] = {
    {"free_by_another_thread", free_by_another_thread},
    {"reuse", reuse},
    {"out_of_memory", out_of_memory},
    {"bad_arguments", bad_arguments},
    {"without_init", without_init},
    {"without_context", without_context},
    {"many_threads", many_threads},
    {"callers_by_turns", callers_by_turns},
    {"all_at_once", all_at_once},
    {"keeps_errno", keeps_errno},
    {"init_again", init_again},
    {"second_device", second_device},
    {"on_another_device", on_another_device},
    {"freed_by_destructor", freed_by_destructor},
    {"freed_by_thread_end", freed_by_thread_end},
};

} // namespace

int main(int argc, char** argv)
{
    return play_scene(kScenes, argc, argv);
}
