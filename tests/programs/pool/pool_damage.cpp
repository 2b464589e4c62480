// tests/programs/pool/pool_damage.cpp — writes into memory after its free, or beyond its end.
//
// Usage: pool_damage SCENE.
#include <initializer_list>

#include "tests/programs/scenes.hpp"

namespace {

// As good as any kernel: it writes on the device, in stream order.
void write(CUdeviceptr at, std::size_t bytes)
{
    check(cuMemsetD8_v2(at, 0x77, bytes));
    check(cuCtxSynchronize());
}

CUdeviceptr victim(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK victim
    return block;
}

void use_again(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK next_tenant
    check(cuMemFree_v2(block));
}

// The driver took the memory away, or the pool has it: the write is wrong either way.
void after_free()
{
    const CUdeviceptr block = victim(kWhole);
    check(cuMemFree_v2(block)); // MARK freed
    cuMemsetD8_v2(block + 1000, 0x77, 24);
    cuCtxSynchronize();
    use_again(kWhole);
}

// The next allocation gets the same memory, though the program never waited for the device.
void after_free_at_once()
{
    const CUdeviceptr block = victim(kWhole);
    check(cuMemFree_v2(block)); // MARK freed_at_once
    cuMemsetD8_v2(block + 1000, 0x77, 24);
    use_again(kWhole);
}

void overrun()
{
    const CUdeviceptr block = victim(3000);
    write(block + 2990, 14);    // it ends 4 bytes too far
    check(cuMemFree_v2(block)); // MARK overrun_found
    use_again(3000);
}

void underrun()
{
    const CUdeviceptr block = victim(3000);
    write(block - 8, 8);
    check(cuMemFree_v2(block)); // MARK underrun_found
    use_again(3000);
}

void all_is_well()
{
    for (const std::size_t bytes : {kWhole, kPart, std::size_t{3000}})
        for (int i = 0; i < 3; ++i) {
            const CUdeviceptr blocks[] = {victim(bytes), victim(bytes)};
            write(blocks[0], bytes);
            write(blocks[1], bytes);
            check(cuMemFree_v2(blocks[0]));
            check(cuMemFree_v2(blocks[1]));
        }
    std::printf("done\n");
}

// Freed in the order of a stream, or while another context is current: as many bytes too far.
void free_on_other_ways(std::size_t too_far)
{
    CUstream stream = nullptr;
    CUcontext own = nullptr, other = nullptr;
    check(cuCtxGetCurrent(&own));
    check(cuCtxCreate_v2(&other, 0, 0));
    check(cuCtxSetCurrent(own));
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; ++i) {
        const CUdeviceptr block = victim(3000);
        check(cuMemsetD8Async(block, 0x77, 3000 + too_far, stream));
        check(cuMemFreeAsync(block, stream)); // MARK freed_in_a_stream
        check(cuCtxSynchronize());
    }
    for (int i = 0; i < 3; ++i) {
        const CUdeviceptr block = victim(3000);
        write(block, 3000 + too_far);
        check(cuCtxSetCurrent(other));
        check(cuMemFree_v2(block)); // MARK freed_elsewhere
        check(cuCtxSetCurrent(own));
        check(cuCtxSynchronize());
    }
    std::printf("done\n");
}

// While a stream is captured nothing may be read or filled: the capture goes on, and the next who get
// the memory blame nobody.
void free_in_a_capture()
{
    CUstream captured = nullptr, other = nullptr;
    check(cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING));
    check(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 3; ++i) {
        const CUdeviceptr block = victim(3000);
        write(block, 3000);
        CUgraph graph = nullptr;
        check(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
        check(cuMemFreeAsync(block, other));
        check(cuStreamEndCapture(captured, &graph));
        check(cuGraphDestroy(graph));
        check(cuCtxSynchronize());
    }
    std::printf("done\n");
}

void other_ways()
{
    free_on_other_ways(0);
}

void other_ways_after_an_overrun()
{
    free_on_other_ways(4);
}

// Addresses that the program never got are refused, and their block lives on.
void wrong_frees()
{
    for (const std::size_t bytes : {kWhole, kWhole - 1024, kPart, std::size_t{3000}}) {
        const CUdeviceptr block = victim(bytes);
        for (const CUdeviceptr wrong : {block - 512, block + 512, block + bytes})
            for (const auto free : {+[](CUdeviceptr at) { return cuMemFree_v2(at); },
                                    +[](CUdeviceptr at) { return cuMemFreeAsync(at, nullptr); }})
                if (free(wrong) != CUDA_ERROR_INVALID_VALUE)
                    std::printf("%zu bytes: freed at %lld\n", bytes,
                                static_cast<long long>(wrong - block));
        write(block, bytes);
        check(cuMemFree_v2(block));
    }
    std::printf("done\n");
}

// Blocks that fill what the driver gave with their red zones leave the pool: it is the driver that
// frees in a stream, and what a graph may still use.
void frees_by_the_driver()
{
    const CUdeviceptr whole = victim(kWhole - 1024);
    write(whole, kWhole - 1024);
    check(cuMemFreeAsync(whole, nullptr));
    CUstream stream = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    const CUdeviceptr used = victim(kWhole - 1024);
    CUgraph graph = nullptr;
    check(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    check(cuMemsetD8Async(used, 0, 64, stream));
    check(cuStreamEndCapture(stream, &graph));
    check(cuMemFree_v2(used));
    check(cuGraphDestroy(graph));
    check(cuStreamDestroy_v2(stream));
    std::printf("done\n");
}

const Scene kScenes[] = {
    {"after_free", after_free},
    {"after_free_at_once", after_free_at_once},
    {"overrun", overrun},
    {"underrun", underrun},
    {"all_is_well", all_is_well},
    {"wrong_frees", wrong_frees},
    {"frees_by_the_driver", frees_by_the_driver},
    {"other_ways", other_ways},
    {"free_in_a_capture", free_in_a_capture},
    {"other_ways_after_an_overrun", other_ways_after_an_overrun},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
