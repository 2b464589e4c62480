// tests/programs/pool/pool_frees.cpp — right and wrong frees, and what comes after them.
//
// Usage: pool_frees SCENE.
#include <thread>
#include <vector>

#include "tests/programs/scenes.hpp"

namespace {

CUdeviceptr allocate(std::size_t bytes = kWhole)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

// No block is lost, and none is handed out twice.
void tell_whether_memory_is_whole(std::size_t bytes)
{
    const CUdeviceptr blocks[] = {allocate(bytes), allocate(bytes), allocate(bytes)};
    bool apart = true;
    for (int i = 0; i < 3; ++i) {
        check(cuMemsetD8_v2(blocks[i] + bytes - 64, static_cast<unsigned char>(i + 1), 64));
        for (int j = 0; j < i; ++j)
            apart = apart && (blocks[i] + bytes <= blocks[j] || blocks[j] + bytes <= blocks[i]);
    }
    check(cuCtxSynchronize());
    std::printf("apart %d\n", apart);
    for (int i = 0; i < 3; ++i) {
        unsigned char seen = 0;
        check(cuMemcpyDtoH_v2(&seen, blocks[i] + bytes - 1, 1));
        std::printf("%d has %d\n", i + 1, seen);
        check(cuMemFree_v2(blocks[i]));
    }
}

void double_free()
{
    for (const std::size_t bytes : {kWhole, kPart, std::size_t{1000}}) {
        const CUdeviceptr block = allocate(bytes);
        const CUdeviceptr other = allocate(bytes);
        tell("free", cuMemFree_v2(block));
        tell("again", cuMemFree_v2(block)); // MARK double_free
        tell("again async", cuMemFreeAsync(block, nullptr));
        tell("another", cuMemFree_v2(other));
        tell("again", cuMemFree_v2(block));
        tell_whether_memory_is_whole(bytes);
    }
}

void interior()
{
    for (const std::size_t bytes : {kWhole, kPart, std::size_t{4096}}) {
        const CUdeviceptr block = allocate(bytes);
        tell("middle", cuMemFree_v2(block + bytes / 2));
        tell("next byte", cuMemFree_v2(block + 1));
        tell("middle async", cuMemFreeAsync(block + bytes / 2, nullptr));
        tell("begin", cuMemFree_v2(block));
        tell("middle of freed", cuMemFree_v2(block + bytes / 2));
        tell_whether_memory_is_whole(bytes);
    }
}

void foreign()
{
    void* pinned = nullptr;
    int local = 0;
    check(cuMemHostAlloc(&pinned, 4096, 0));
    const CUdeviceptr block = allocate();
    tell("never allocated", cuMemFree_v2(0x7000));
    tell("on the stack", cuMemFree_v2(reinterpret_cast<CUdeviceptr>(&local)));
    tell("pinned", cuMemFree_v2(reinterpret_cast<CUdeviceptr>(pinned)));
    tell("device as host", cuMemFreeHost(reinterpret_cast<void*>(block)));
    tell("never allocated async", cuMemFreeAsync(0x7000, nullptr));
    tell("null", cuMemFree_v2(0));
    tell("null async", cuMemFreeAsync(0, nullptr));
    tell("free", cuMemFree_v2(block));
    tell("free host", cuMemFreeHost(pinned));
    CUdeviceptr out = 0x1234;
    tell("no bytes", cuMemAlloc_v2(&out, 0));
    tell("no pointer", cuMemAlloc_v2(nullptr, kWhole));
    std::printf("null %d\n", out == 0);
}

void no_context()
{
    const CUdeviceptr block = allocate();
    check(cuMemFree_v2(allocate())); // there is memory in the cache
    std::thread([block] {
        CUdeviceptr out = 0x1234;
        std::size_t free = 0, total = 0;
        tell("alloc", cuMemAlloc_v2(&out, kWhole));
        tell("free", cuMemFree_v2(block));
        tell("free of nothing", cuMemFree_v2(0x7000));
        tell("info", cuMemGetInfo_v2(&free, &total));
        std::printf("null %d\n", out == 0);
    }).join();
    tell("free", cuMemFree_v2(block));
    tell("again", cuMemFree_v2(block));
}

void other_context()
{
    const CUcontext primary = primary_context();
    CUcontext second = nullptr;
    const CUdeviceptr block = allocate();
    check(cuCtxCreate_v2(&second, 0, first_device()));
    const CUdeviceptr own = allocate();
    tell("of another context", cuMemFree_v2(block));
    tell("again", cuMemFree_v2(block));
    tell_whether_memory_is_whole(kWhole);
    check(cuCtxSetCurrent(primary));
    tell("of the second context", cuMemFree_v2(own));
    tell_whether_memory_is_whole(kWhole);
    tell("destroy", cuCtxDestroy_v2(second));
    tell_whether_memory_is_whole(kWhole);
}

void async()
{
    CUstream stream = nullptr;
    CUdeviceptr ordered = 0;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (const std::size_t bytes : {kWhole, kPart}) {
        const CUdeviceptr block = allocate(bytes);
        tell("async free of a block", cuMemFreeAsync(block, stream));
        tell("again", cuMemFree_v2(block));
        check(cuStreamSynchronize(stream));
        tell_whether_memory_is_whole(bytes);
        check(cuMemAllocAsync(&ordered, bytes, stream));
        tell("free of async memory", cuMemFree_v2(ordered));
        tell("again", cuMemFreeAsync(ordered, stream));
        tell_whether_memory_is_whole(bytes);
    }
    check(cuStreamDestroy_v2(stream));
}

// Much is kept when the process ends; some is freed only then.
struct FreedLate {
    CUdeviceptr block = 0;
    ~FreedLate()
    {
        if (block)
            tell("late", cuMemFree_v2(block));
    }
} freed_late;

void at_exit()
{
    for (int i = 0; i < 3; ++i)
        tell_whether_memory_is_whole(kWhole);
    freed_late.block = allocate();
    std::atexit([] {
        const CUdeviceptr last = allocate();
        tell("last", cuMemFree_v2(last));
    });
}

// Only the first of them finds freed memory.
void synchronise(int times)
{
    check(cuMemFree_v2(allocate()));
    for (int i = 0; i < times; ++i)
        check(cuCtxSynchronize());
}

const Scene kScenes[] = {
    {"double_free", double_free},
    {"interior", interior},
    {"foreign", foreign},
    {"no_context", no_context},
    {"other_context", other_context},
    {"async", async},
    {"at_exit", at_exit},
    {"few_synchronisations", [] { synchronise(100); }},
    {"many_synchronisations", [] { synchronise(20'100); }},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
