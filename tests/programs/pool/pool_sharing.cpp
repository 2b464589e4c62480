// tests/programs/pool/pool_sharing.cpp — memory that has a name for others, or a mark.
//
// It also asks the driver about pointers.
//
// Usage: pool_sharing SCENE.
#include <cstdint>
#include <initializer_list>
#include <unistd.h>

#include "tests/programs/scenes.hpp"

namespace {

CUdeviceptr allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
    return block;
}

// A handle is for one allocation: the next has another, be it at the same address.
void share_by_handle(std::size_t bytes)
{
    CUipcMemHandle first{}, inner{}, second{};
    CUdeviceptr block = allocate(bytes);
    tell("handle", cuIpcGetMemHandle(&first, block));
    tell("of the middle", cuIpcGetMemHandle(&inner, block + 4096));
    std::printf("same %d\n", std::memcmp(&first, &inner, sizeof first) == 0);
    tell("free", cuMemFree_v2(block));
    tell("of freed memory", cuIpcGetMemHandle(&inner, block));
    block = allocate(bytes);
    tell("handle", cuIpcGetMemHandle(&second, block));
    std::printf("same %d\n", std::memcmp(&first, &second, sizeof first) == 0);
    tell("free", cuMemFree_v2(block));
}

void ipc()
{
    share_by_handle(kWhole);
}

void ipc_part()
{
    CUipcMemHandle handle{};
    const CUdeviceptr block = allocate(kPart);
    tell("handle", cuIpcGetMemHandle(&handle, block));
    tell("again", cuIpcGetMemHandle(&handle, block));
    tell("free", cuMemFree_v2(block));
}

void share_by_descriptor(std::size_t bytes)
{
    int fd = -1;
    const auto kind = CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
    const CUdeviceptr block = allocate(bytes);
    const CUresult result = cuMemGetHandleForAddressRange(&fd, block, bytes, kind, 0);
    tell("descriptor", result);
    if (result == CUDA_SUCCESS)
        ::close(fd);
    tell("free", cuMemFree_v2(block));
    tell("of freed memory", cuMemGetHandleForAddressRange(&fd, block, bytes, kind, 0));
    const CUdeviceptr next = allocate(bytes);
    tell("free", cuMemFree_v2(next));
}

void dma_buf()
{
    share_by_descriptor(kWhole);
}

void dma_buf_part()
{
    share_by_descriptor(kPart);
}

unsigned synchronous(CUdeviceptr block)
{
    unsigned value = 77;
    check(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
    return value;
}

// The mark is the allocation's: the next one of this size has none.
void mark_block(std::size_t bytes)
{
    const unsigned on = 1;
    for (int i = 0; i < 2; ++i) {
        const CUdeviceptr block = allocate(bytes);
        std::printf("new %u\n", synchronous(block));
        tell("set", cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
        std::printf("set %u\n", synchronous(block));
        tell("free", cuMemFree_v2(block));
        tell("set on freed memory",
             cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, block));
    }
}

void sync_memops()
{
    mark_block(kWhole);
}

void sync_memops_part()
{
    mark_block(kPart);
}

void tokens()
{
    CUDA_POINTER_ATTRIBUTE_P2P_TOKENS answer{};
    const CUdeviceptr block = allocate(kPart);
    tell("tokens", cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_P2P_TOKENS, block));
    tell("free", cuMemFree_v2(block));
}

// A program asks before it shares: for a part the answer is no.
void capable()
{
    for (const std::size_t bytes : {kWhole, kPart}) {
        const CUdeviceptr block = allocate(bytes);
        unsigned char one = 7, several = 7;
        CUpointer_attribute name = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
        void* out = &several;
        check(cuPointerGetAttribute(&one, name, block));
        check(cuPointerGetAttributes(1, &name, &out, block));
        std::printf("can be shared %d %d\n", one, several);
        check(cuMemFree_v2(block));
    }
}

// What the driver says of `pointer`, relative to `block`.
void describe(const char* what, CUdeviceptr block, CUdeviceptr pointer)
{
    CUdeviceptr base = 1;
    std::size_t bytes = 2;
    const CUresult result = cuMemGetAddressRange_v2(&base, &bytes, pointer);
    std::printf("%s: range %d", what, static_cast<int>(result));
    if (result == CUDA_SUCCESS)
        std::printf(" %lld %zu", static_cast<long long>(base - block), bytes);
    CUdeviceptr start = 3;
    std::size_t size = 4;
    unsigned type = 5;
    CUcontext context = nullptr;
    CUdeviceptr device_pointer = 6;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                   CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void* values[] = {&start, &size, &type, &context, &device_pointer};
    std::printf(", several %d",
                static_cast<int>(cuPointerGetAttributes(5, names, values, pointer)));
    std::printf(" %lld %zu %u %d %lld", static_cast<long long>(start ? start - block : start), size,
                type, context != nullptr,
                static_cast<long long>(device_pointer ? device_pointer - block : device_pointer));
    start = 3;
    std::printf(", one %d", static_cast<int>(cuPointerGetAttribute(
                                &start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer)));
    std::printf(" %lld\n", static_cast<long long>(start > 3 ? start - block : start));
}

void describe_blocks(std::size_t bytes)
{
    CUdeviceptr block = allocate(bytes);
    const CUdeviceptr other = allocate(bytes);
    for (int i = 0; i < 2; ++i) {
        describe("its begin", block, block);
        describe("its middle", block, block + bytes / 2);
        describe("its end", block, block + bytes - 1);
        tell("half a question", cuMemGetAddressRange_v2(nullptr, nullptr, block));
        check(cuMemFree_v2(block));
        describe("freed", block, block);
        describe("freed middle", block, block + bytes / 2);
        block = allocate(bytes);
    }
    unsigned long long one = 0, two = 0;
    check(cuPointerGetAttribute(&one, CU_POINTER_ATTRIBUTE_BUFFER_ID, block));
    check(cuPointerGetAttribute(&two, CU_POINTER_ATTRIBUTE_BUFFER_ID, other));
    std::printf("same id %d\n", one == two);
    check(cuMemFree_v2(block));
    check(cuMemFree_v2(other));
}

void ranges()
{
    describe_blocks(kWhole);
}

void ranges_part()
{
    describe_blocks(kPart);
    describe_blocks(1000);
}

const Scene kScenes[] = {
    {"ipc", ipc},
    {"ipc_part", ipc_part},
    {"dma_buf", dma_buf},
    {"dma_buf_part", dma_buf_part},
    {"sync_memops", sync_memops},
    {"sync_memops_part", sync_memops_part},
    {"tokens", tokens},
    {"capable", capable},
    {"ranges", ranges},
    {"ranges_part", ranges_part},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
