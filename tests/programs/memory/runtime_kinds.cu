// tests/programs/memory/runtime_kinds.cu — the CUDA runtime's allocations.
//
// There are two of a kind, and one of them is freed.
//
// Usage: runtime_kinds KIND. Built by nvcc with the runtime shared, static and with a default
// stream for each thread.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

namespace {

constexpr size_t kBytes = 3000;
constexpr size_t kPage = 4096;

void check(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    std::fprintf(stderr, "runtime_kinds: %s\n", cudaGetErrorString(status));
    std::exit(3);
}

__global__ void fill(char* block)
{
    block[threadIdx.x] = 1;
}

void device()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaMalloc(&block, kBytes)); // MARK device
    fill<<<1, 32>>>(blocks[0]);
    check(cudaDeviceSynchronize());
    check(cudaFree(blocks[0]));
    check(cudaFree(nullptr));
}

void pitch()
{
    char* blocks[2];
    size_t pitch = 0;
    for (char*& block : blocks)
        check(cudaMallocPitch(&block, &pitch, 100, 7)); // MARK pitch
    check(cudaFree(blocks[0]));
    std::printf("%zu\n", pitch);
}

void malloc_3d()
{
    cudaPitchedPtr blocks[2];
    for (cudaPitchedPtr& block : blocks)
        check(cudaMalloc3D(&block, make_cudaExtent(100, 7, 1))); // MARK malloc_3d
    check(cudaFree(blocks[0].ptr));
    std::printf("%zu\n", blocks[0].pitch);
}

void managed()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaMallocManaged(&block, kBytes)); // MARK managed
    check(cudaFree(blocks[0]));
}

void host_alloc()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaHostAlloc(&block, kBytes, cudaHostAllocPortable)); // MARK host_alloc
    check(cudaFreeHost(blocks[0]));
}

void malloc_host()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaMallocHost(&block, kBytes)); // MARK malloc_host
    check(cudaFreeHost(blocks[0]));
}

alignas(kPage) char memory[2][kPage];

void host_register()
{
    for (char* page : {memory[0], memory[1]})
        check(cudaHostRegister(page, kPage, cudaHostRegisterDefault)); // MARK host_register
    check(cudaHostUnregister(memory[0]));
}

void array()
{
    cudaArray_t arrays[2];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    for (cudaArray_t& array : arrays)
        check(cudaMallocArray(&array, &format, 64, 16)); // MARK array
    check(cudaFreeArray(arrays[0]));
}

void array_3d()
{
    cudaArray_t arrays[2];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    for (cudaArray_t& array : arrays)
        check(cudaMalloc3DArray(&array, &format, make_cudaExtent(64, 16, 4))); // MARK array_3d
    check(cudaFreeArray(arrays[0]));
}

void mipmap()
{
    cudaMipmappedArray_t arrays[2];
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned short>();
    const cudaExtent extent = make_cudaExtent(64, 64, 0);
    for (cudaMipmappedArray_t& array : arrays)
        check(cudaMallocMipmappedArray(&array, &format, extent, 3)); // MARK mipmap
    check(cudaFreeMipmappedArray(arrays[0]));
}

void async()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaMallocAsync(&block, kBytes, 0)); // MARK async
    check(cudaFreeAsync(blocks[0], 0));
    check(cudaDeviceSynchronize());
}

void pool()
{
    char* blocks[2];
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (char*& block : blocks)
        check(cudaMallocFromPoolAsync(&block, kBytes, pool, 0)); // MARK pool
    check(cudaFreeAsync(blocks[0], 0));
    check(cudaDeviceSynchronize());
}

void reset()
{
    char* blocks[2];
    for (char*& block : blocks)
        check(cudaMalloc(&block, kBytes)); // MARK reset
    check(cudaFree(blocks[0]));
    check(cudaDeviceReset());
}

const struct {
    const char* name;
    void (*run)();
} kKinds[] = {
    {"device", device},
    {"pitch", pitch},
    {"malloc_3d", malloc_3d},
    {"managed", managed},
    {"host_alloc", host_alloc},
    {"malloc_host", malloc_host},
    {"host_register", host_register},
    {"array", array},
    {"array_3d", array_3d},
    {"mipmap", mipmap},
    {"async", async},
    {"pool", pool},
    {"reset", reset},
};

} // namespace

int main(int argc, char** argv)
{
    for (const auto& kind : kKinds)
        if (argc == 2 && std::strcmp(kind.name, argv[1]) == 0) {
            kind.run();
            return 0;
        }
    return 2;
}
