// tests/gpu/facts/memory.cpp — how the driver lays blocks out, what is in new ones, what host memory is.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

void tell_distances(std::size_t size)
{
    std::vector<char*> blocks(8);
    const std::size_t before = free_bytes();
    std::size_t first = 0;
    for (char*& block : blocks) {
        CHECK(cudaMalloc(&block, size));
        if (first == 0)
            first = before - free_bytes();
    }
    std::printf("cudaMalloc of %zu: aligned to %zu, the next lies at %+td, the first took %zu of "
                "free memory, eight %zu\n",
                size,
                reinterpret_cast<std::uintptr_t>(blocks[1]) &
                    (~reinterpret_cast<std::uintptr_t>(blocks[1]) + 1),
                blocks[2] - blocks[1], first, before - free_bytes());
    for (char* block : blocks)
        CHECK(cudaFree(block));
    std::printf("cudaMalloc of %zu: all freed, %td less than before is free\n", size,
                fall_since(before));
}

template <class Call>
double microseconds(int times, Call call)
{
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < times; ++i)
        call();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
               .count() /
           times;
}

// How many of the block's bytes are zero, and how many have `old`.
void tell_bytes(const char* what, const void* block, std::size_t size, unsigned char old)
{
    std::vector<unsigned char> bytes(size);
    CHECK(cudaMemcpy(bytes.data(), block, size, cudaMemcpyDeviceToHost));
    std::size_t zeros = 0, olds = 0;
    for (const unsigned char byte : bytes) {
        zeros += byte == 0;
        olds += byte == old;
    }
    std::printf("%s: %.1f %% zero, %.1f %% what was written before\n", what, 100. * zeros / size,
                100. * olds / size);
}

void tell_reuse(const char* what, std::size_t size)
{
    void *first = nullptr, *second = nullptr;
    CHECK(cudaMalloc(&first, size));
    tell_bytes((std::string{what} + ", first").c_str(), first, size, 0xA5);
    CHECK(cudaMemset(first, 0xA5, size));
    CHECK(cudaFree(first));
    CHECK(cudaMalloc(&second, size));
    std::printf("%s, freed and asked for again: %s\n", what,
                first == second ? "the same address" : "another address");
    tell_bytes((std::string{what} + ", again").c_str(), second, size, 0xA5);
    CHECK(cudaFree(second));
}

// The short name of the mapping there, with its permissions.
std::string mapping_around(std::uintptr_t address)
{
    for (const Mapping& one : mappings())
        if (one.begin <= address && address < one.end)
            return (one.name.rfind("/dev/", 0) == 0 ? one.name
                                                    : one.name.substr(one.name.rfind('/') + 1)) +
                   " " + one.permissions;
    return "nothing";
}

} // namespace

void tell_layout()
{
    for (const std::size_t size :
         {std::size_t{1}, std::size_t{512}, std::size_t{513}, std::size_t{4096}, kMiB - 1, kMiB,
          kMiB + 1, 2 * kMiB, 2 * kMiB + 1, 3 * kMiB, 64 * kMiB, 64 * kMiB + 1})
        tell_distances(size);
    void* block = nullptr;
    CHECK(cudaMalloc(&block, 64 * kMiB));
    std::size_t free = 0, total = 0;
    CUdeviceptr base = 0;
    cudaPointerAttributes attributes{};
    std::printf("cudaMemGetInfo: %.1f us\n",
                microseconds(1000, [&] { cudaMemGetInfo(&free, &total); }));
    std::printf("cuMemGetAddressRange: %.2f us\n", microseconds(1000, [&] {
                    cuMemGetAddressRange(&base, &free, reinterpret_cast<CUdeviceptr>(block));
                }));
    std::printf("cudaPointerGetAttributes: %.2f us\n",
                microseconds(1000, [&] { cudaPointerGetAttributes(&attributes, block); }));
    CHECK(cudaFree(block));
}

void tell_contents()
{
    tell_reuse("cudaMalloc of 4 KiB", 4096);
    void* neighbour = nullptr;
    CHECK(cudaMalloc(&neighbour, 4096)); // its 2 MiB stay the program's
    tell_reuse("cudaMalloc of 4 KiB beside another", 4096);
    CHECK(cudaFree(neighbour));
    tell_reuse("cudaMalloc of 4 MiB", 4 * kMiB);
    tell_reuse("cudaMalloc of 256 MiB", 256 * kMiB);
    void* block = nullptr;
    CHECK(cudaMallocAsync(&block, 4 * kMiB, nullptr));
    tell_bytes("cudaMallocAsync of 4 MiB", block, 4 * kMiB, 0xA5);
    CHECK(cudaFreeAsync(block, nullptr));
    CHECK(cudaMallocHost(&block, 4 * kMiB));
    tell_bytes("cudaMallocHost of 4 MiB", block, 4 * kMiB, 0xA5);
    CHECK(cudaFreeHost(block));
}

void tell_hosts()
{
    const auto tell = [](const char* what, const void* pointer) {
        std::printf("%s: %s\n", what,
                    mapping_around(reinterpret_cast<std::uintptr_t>(pointer)).c_str());
    };
    void* pointer = nullptr;
    CHECK(cudaMalloc(&pointer, 64 * kMiB));
    tell("cudaMalloc", pointer);
    CHECK(cudaMallocHost(&pointer, 64 * kMiB));
    tell("cudaMallocHost", pointer);
    CHECK(cudaHostAlloc(&pointer, 64 * kMiB, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    tell("cudaHostAlloc, write-combined", pointer);
    CHECK(cudaMallocManaged(&pointer, 64 * kMiB));
    tell("cudaMallocManaged", pointer);
    CHECK(cudaMallocAsync(&pointer, 64 * kMiB, nullptr));
    tell("cudaMallocAsync", pointer);
    CUdeviceptr reserved = 0;
    if (cuMemAddressReserve(&reserved, 64 * kMiB, 0, 0, 0) == CUDA_SUCCESS)
        tell("cuMemAddressReserve", reinterpret_cast<void*>(reserved));
    CUcontext context = nullptr;
    if (cuCtxGetCurrent(&context) == CUDA_SUCCESS)
        tell("a context's handle", context);
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreate(&stream));
    tell("a stream's handle", stream);
}

} // namespace facts
