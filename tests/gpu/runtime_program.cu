// tests/gpu/runtime_program.cu — uses each call of the runtime API, and says what it leaked.
//
// Each line of its output is what a report must hold of one call: "api entry_point leaked_blocks
// leaked_bytes freed_blocks"; bytes are "-" where only the driver knows them. scripts/gpu-check
// compares.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "tests/gpu/check.hpp"

namespace {

__global__ void touch(int* data)
{
    data[threadIdx.x] = static_cast<int>(threadIdx.x);
}

void told(const char* api, const char* entry_point, size_t leaked_blocks, size_t leaked_bytes,
          size_t freed_blocks)
{
    const std::string bytes = leaked_bytes ? std::to_string(leaked_bytes) : "-";
    std::printf("%s %s %zu %s %zu\n", api, entry_point, leaked_blocks, bytes.c_str(), freed_blocks);
}

void device_memory()
{
    constexpr size_t kBytes = 3 << 20;
    for (int i = 0; i < 5; ++i) {
        int* block = nullptr;
        CHECK(cudaMalloc(&block, kBytes));
        touch<<<1, 32>>>(block);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        if (i >= 2)
            CHECK(cudaFree(block));
    }
    told("cudaMalloc", "cuMemAlloc_v2", 2, 2 * kBytes, 3);
}

void managed_memory()
{
    constexpr size_t kBytes = 1 << 20;
    void* blocks[2];
    for (void*& block : blocks)
        CHECK(cudaMallocManaged(&block, kBytes));
    CHECK(cudaFree(blocks[0]));
    told("cudaMallocManaged", "cuMemAllocManaged", 1, kBytes, 1);
}

void pitched_memory()
{
    constexpr size_t kHeight = 100;
    void* blocks[2];
    size_t pitch = 0;
    for (void*& block : blocks)
        CHECK(cudaMallocPitch(&block, &pitch, 1000, kHeight));
    CHECK(cudaFree(blocks[0]));
    told("cudaMallocPitch", "cuMemAllocPitch_v2", 1, pitch * kHeight, 1);
}

void pinned_memory()
{
    constexpr size_t kBytes = 256 << 10;
    void* blocks[3];
    for (void*& block : blocks)
        CHECK(cudaMallocHost(&block, kBytes));
    CHECK(cudaFreeHost(blocks[0]));
    CHECK(cudaFreeHost(blocks[1]));
    told("cudaMallocHost", "cuMemHostAlloc", 1, kBytes, 2);
}

void registered_memory()
{
    constexpr size_t kBytes = 64 << 10;
    void* memory = std::aligned_alloc(4096, 2 * kBytes);
    CHECK(cudaHostRegister(memory, kBytes, cudaHostRegisterDefault));
    CHECK(cudaHostUnregister(memory));
    CHECK(cudaHostRegister(static_cast<char*>(memory) + kBytes, kBytes, cudaHostRegisterDefault));
    told("cudaHostRegister", "cuMemHostRegister_v2", 1, kBytes, 1);
}

void stream_ordered_memory(const char* entry_point)
{
    constexpr size_t kBytes = 5 << 20;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    void* blocks[3];
    for (void*& block : blocks)
        CHECK(cudaMallocAsync(&block, kBytes, stream));
    CHECK(cudaFreeAsync(blocks[0], stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFree(blocks[1]));
    CHECK(cudaStreamDestroy(stream));
    told("cudaMallocAsync", entry_point, 1, kBytes, 2);
}

void arrays()
{
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t blocks[2];
    for (cudaArray_t& block : blocks)
        CHECK(cudaMallocArray(&block, &format, 256, 256));
    CHECK(cudaFreeArray(blocks[0]));
    told("cudaMallocArray", "cuArray3DCreate_v2", 1, 0, 1);
}

} // namespace

int main()
{
    device_memory();
    managed_memory();
    pitched_memory();
    pinned_memory();
    registered_memory();
#ifdef PER_THREAD_STREAMS
    stream_ordered_memory("cuMemAllocAsync_ptsz");
#else
    stream_ordered_memory("cuMemAllocAsync");
#endif
    arrays();
    return 0;
}
