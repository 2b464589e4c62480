// tests/programs/pool/pool_contexts.cpp — contexts that come and go with what is live and what is
// cached, peers, and processes that fork.
//
// Usage: pool_contexts SCENE.
#include <atomic>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

CUdeviceptr allocate(std::size_t bytes = kWhole)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

// Allocates, writes, reads and frees in the current context.
void use_memory(const char* what)
{
    bool intact = true;
    for (int round = 0; round < 3; ++round) {
        CUdeviceptr blocks[3];
        for (CUdeviceptr& block : blocks) {
            block = allocate();
            check(cuMemsetD8_v2(block + kWhole - 64, static_cast<unsigned char>(&block - blocks),
                                64));
        }
        check(cuCtxSynchronize());
        for (CUdeviceptr& block : blocks) {
            unsigned char seen = 0xff;
            check(cuMemcpyDtoH_v2(&seen, block + kWhole - 1, 1));
            intact = intact && seen == &block - blocks;
            check(cuMemFree_v2(block));
        }
    }
    std::printf("%s intact %d\n", what, intact);
}

void destroyed()
{
    const CUdevice device = first_device();
    for (int i = 0; i < 3; ++i) {
        CUcontext context = nullptr;
        check(cuCtxCreate_v2(&context, 0, device));
        const CUdeviceptr lost = allocate(); // MARK lost
        use_memory("context");
        tell("destroy", cuCtxDestroy_v2(context));
        primary_context();
        tell("free after", cuMemFree_v2(lost));
        use_memory("primary");
    }
}

void reset()
{
    const CUdevice device = first_device();
    for (int i = 0; i < 3; ++i) {
        primary_context();
        const CUdeviceptr lost = allocate();
        use_memory("before");
        tell("reset", cuDevicePrimaryCtxReset_v2(device));
        tell("free after", cuMemFree_v2(lost));
        std::size_t free = 0, total = 0;
        primary_context();
        check(cuMemGetInfo_v2(&free, &total));
        std::printf("all is free %d\n", free == total);
    }
}

void many()
{
    const CUdevice device = first_device();
    CUcontext held[8]{};
    for (int i = 0; i < 600; ++i) {
        CUcontext& context = held[i % 8];
        if (context)
            check(cuCtxDestroy_v2(context));
        check(cuCtxCreate_v2(&context, 0, device));
        check(cuMemFree_v2(allocate(1000)));
        check(cuMemFree_v2(allocate(1000)));
    }
    for (const CUcontext context : held)
        check(cuCtxDestroy_v2(context));
    std::printf("done\n");
}

// A device writes into memory of another that is freed, allocated and freed again.
void peers()
{
    CUcontext contexts[2]{};
    for (int i = 0; i < 2; ++i) {
        CUdevice device = 0;
        check(cuInit(0));
        check(cuDeviceGet(&device, i));
        check(cuDevicePrimaryCtxRetain(&contexts[i], device));
    }
    check(cuCtxSetCurrent(contexts[1]));
    tell("peer access", cuCtxEnablePeerAccess(contexts[0], 0));
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr source = allocate();
    bool intact = true;
    for (int round = 0; round < 5; ++round) {
        check(cuCtxSetCurrent(contexts[0]));
        const CUdeviceptr target = allocate();
        check(cuMemsetD8_v2(target, 7, kWhole));
        check(cuCtxSetCurrent(contexts[1]));
        check(cuMemcpyDtoDAsync_v2(target, source, kWhole, stream));
        check(cuCtxSetCurrent(contexts[0]));
        check(cuMemFree_v2(target)); // what the other device still does is done before it is reused
        const CUdeviceptr next = allocate();
        check(cuMemsetD8_v2(next, 9, kWhole));
        check(cuCtxSetCurrent(contexts[1]));
        check(cuStreamSynchronize(stream));
        check(cuCtxSetCurrent(contexts[0]));
        unsigned char seen = 0;
        check(cuMemcpyDtoH_v2(&seen, next + kWhole / 2, 1));
        intact = intact && seen == 9;
        tell("free", cuMemFree_v2(next));
    }
    std::printf("intact %d\n", intact);
}

int status_of(pid_t child)
{
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void fork_without_cuda()
{
    primary_context();
    use_memory("before");
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0)
        std::exit(7);
    std::printf("child %d\n", status_of(child));
    use_memory("after");
}

// After fork the driver works no more in the child.
void fork_with_cuda()
{
    primary_context();
    const CUdeviceptr block = allocate();
    use_memory("before");
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
        CUdeviceptr out = 0x1234;
        tell("alloc in the child", cuMemAlloc_v2(&out, kWhole));
        tell("free in the child", cuMemFree_v2(block));
        std::printf("null %d\n", out == 0);
        std::exit(0);
    }
    std::printf("child %d\n", status_of(child));
    tell("free", cuMemFree_v2(block));
    use_memory("after");
}

// Children are made while threads are in the midst of it.
void fork_busy()
{
    const CUcontext context = primary_context();
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
        threads.emplace_back([&done, context] {
            check(cuCtxSetCurrent(context));
            while (!done)
                for (const std::size_t bytes : {kWhole, kPart, std::size_t{1000}})
                    check(cuMemFree_v2(allocate(bytes)));
        });
    int well = 0;
    for (int i = 0; i < 20; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            CUdeviceptr out = 0;
            std::exit(cuMemAlloc_v2(&out, kWhole) == CUDA_SUCCESS);
        }
        well += status_of(child) == 0;
    }
    done = true;
    for (std::thread& thread : threads)
        thread.join();
    std::printf("children %d\n", well);
    use_memory("after");
}

void fork_first()
{
    const pid_t child = ::fork();
    if (child == 0) {
        primary_context();
        use_memory("child");
        std::exit(0);
    }
    std::printf("child %d\n", status_of(child));
    primary_context();
    use_memory("parent");
}

const Scene kScenes[] = {
    {"destroyed", destroyed},
    {"reset", reset},
    {"many", many},
    {"peers", peers},
    {"fork_without_cuda", fork_without_cuda},
    {"fork_with_cuda", fork_with_cuda},
    {"fork_busy", fork_busy},
    {"fork_first", fork_first},
};

} // namespace

int main(int argc, char** argv)
{
    return play_scene(kScenes, argc, argv);
}
