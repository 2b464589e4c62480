// tests/gpu/facts/errors.cpp — what wrong calls answer.
#include <cstdio>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

constexpr std::size_t kBytes = std::size_t{4} << 20;
constexpr std::size_t kTooMuch = std::size_t{1} << 50;

template <class Result>
void tell(const char* what, Result result)
{
    std::printf("%s: %s\n", what, name_of(result).c_str());
    (void)cudaGetLastError();
}

CUdeviceptr driver(void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

void* at(void* pointer, std::size_t offset)
{
    return static_cast<char*>(pointer) + offset;
}

template <class Allocate>
void tell_sizes(const char* name, Allocate allocate)
{
    for (const std::size_t size : {std::size_t{0}, kTooMuch, ~std::size_t{0}}) {
        void* pointer = &pointer;
        const auto result = allocate(&pointer, size);
        std::printf("%s of %s: %s, the pointer is %s\n", name,
                    size == 0          ? "0"
                    : size == kTooMuch ? "1 PiB"
                                       : "2^64 - 1",
                    name_of(result).c_str(),
                    !pointer              ? "null"
                    : pointer == &pointer ? "untouched"
                                          : "set");
        (void)cudaGetLastError();
    }
}

} // namespace

void tell_errors()
{
    tell_sizes("cudaMalloc", [](void** p, std::size_t n) { return cudaMalloc(p, n); });
    tell_sizes("cuMemAlloc", [](void** p, std::size_t n) {
        return cuMemAlloc(reinterpret_cast<CUdeviceptr*>(p), n);
    });
    tell_sizes("cudaMallocAsync",
               [](void** p, std::size_t n) { return cudaMallocAsync(p, n, nullptr); });
    tell_sizes("cuMemAllocAsync", [](void** p, std::size_t n) {
        return cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(p), n, nullptr);
    });
    tell_sizes("cudaMallocHost", [](void** p, std::size_t n) { return cudaMallocHost(p, n); });
    tell_sizes("cuMemHostAlloc", [](void** p, std::size_t n) { return cuMemHostAlloc(p, n, 0); });

    void *block = nullptr, *pinned = nullptr, *unified = nullptr, *in_order = nullptr,
         *other = nullptr;
    static char own[4096];
    CHECK(cudaMalloc(&block, kBytes));
    CHECK(cudaMallocHost(&pinned, kBytes));
    CHECK(cudaMallocManaged(&unified, kBytes));
    CHECK(cudaMallocAsync(&in_order, kBytes, nullptr));
    CHECK(cudaDeviceSynchronize());
    void* nothing = nullptr;
    tell("cudaMallocManaged of 0",
         cudaMallocManaged(&nothing, 0)); // much of it is never asked for: a GPU may hang
    tell("cudaFree inside a block", cudaFree(at(block, 256)));
    tell("cuMemFree inside a block", cuMemFree(driver(at(block, 256))));
    tell("cudaFree of the program's own memory", cudaFree(own));
    tell("cudaFree of an address of nobody", cudaFree(reinterpret_cast<void*>(0x1000)));
    tell("cudaFree of pinned memory", cudaFree(pinned));
    tell("cuMemFree of pinned memory", cuMemFree(driver(pinned)));
    CHECK(cudaMallocHost(&pinned, kBytes));
    tell("cudaFreeHost of a block", cudaFreeHost(block));
    tell("cudaFreeHost inside pinned memory", cudaFreeHost(at(pinned, 4096)));
    tell("cudaFreeHost of the program's own memory", cudaFreeHost(own));
    tell("cudaFreeHost of null", cudaFreeHost(nullptr));
    tell("cuMemFreeHost of null", cuMemFreeHost(nullptr));
    tell("cuMemFree of null", cuMemFree(0));
    tell("cudaFreeAsync of null", cudaFreeAsync(nullptr, nullptr));
    tell("cuMemFreeAsync of null", cuMemFreeAsync(0, nullptr));
    tell("cudaFree inside managed memory", cudaFree(at(unified, 4096)));
    tell("cudaFree of managed memory", cudaFree(unified));
    tell("cudaFree of managed memory, twice", cudaFree(unified));
    tell("cudaFreeAsync inside its memory", cudaFreeAsync(at(in_order, 512), nullptr));
    tell("cudaFreeAsync of pinned memory", cudaFreeAsync(pinned, nullptr));
    tell("cudaFreeHost of pinned memory", cudaFreeHost(pinned));
    tell("cudaFreeHost of pinned memory, twice", cudaFreeHost(pinned));
    tell("cudaFree of a block", cudaFree(block));
    tell("cudaFree of a block, twice", cudaFree(block));
    tell("cuMemFree of a block that is freed", cuMemFree(driver(block)));
    tell("cudaFreeAsync of a block that is freed", cudaFreeAsync(block, nullptr));
    CHECK(cudaMalloc(&other, kBytes));
    tell("cudaFreeAsync of cudaMalloc's memory", cudaFreeAsync(other, nullptr));
    tell("cudaFree of that, before the stream is done", cudaFree(other));
    tell("cudaDeviceSynchronize", cudaDeviceSynchronize());
    tell("cudaFree of that, after it", cudaFree(other));
    tell("cudaFreeAsync of its memory", cudaFreeAsync(in_order, nullptr));
    tell("cudaFreeAsync of its memory, twice", cudaFreeAsync(in_order, nullptr));
    tell("cudaFree of its memory, twice", cudaFree(in_order));
    tell("cudaDeviceSynchronize", cudaDeviceSynchronize());
}

} // namespace facts
