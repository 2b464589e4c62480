// tests/gpu/speed_program.cu — what allocating costs: pairs of cudaMalloc and cudaFree, and steps
// of a training loop that allocates all it needs and frees it again.
//
// Usage: speed_program pairs|steps malloc|async COUNT. Each line of its output is a name and
// microseconds of wall time: of a pair of that size, of a step. async: cudaMallocAsync and
// cudaFreeAsync instead.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

#include "tests/gpu/check.hpp"

namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;

bool async;

char* allocate(size_t bytes)
{
    void* block = nullptr;
    CHECK(async ? cudaMallocAsync(&block, bytes, nullptr) : cudaMalloc(&block, bytes));
    return static_cast<char*>(block);
}

void release(char* block)
{
    CHECK(async ? cudaFreeAsync(block, nullptr) : cudaFree(block));
}

__global__ void work(char* block, size_t bytes)
{
    const size_t at = (blockIdx.x * size_t{blockDim.x} + threadIdx.x) * 64;
    if (at < bytes)
        block[at] = static_cast<char>(at);
}

void queue_work(char* block, size_t bytes)
{
    work<<<static_cast<unsigned>(bytes / 64 / 256 + 1), 256>>>(block, bytes);
    CHECK(cudaGetLastError());
}

// Runs `once` a few times, and then `count` times by the clock.
template <class Once>
void measure(const char* name, int count, Once once)
{
    for (int i = 0; i < 3; ++i)
        once();
    CHECK(cudaDeviceSynchronize());
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
        once();
    CHECK(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    std::printf("%s %.3f\n", name, taken.count() / count);
}

void pairs(int count)
{
    const struct {
        const char* name;
        size_t bytes;
    } kSizes[] = {{"4KiB", 4 * kKiB}, {"1MiB", kMiB}, {"64MiB", 64 * kMiB}};
    for (const auto& size : kSizes)
        measure(size.name, count, [&] { release(allocate(size.bytes)); });
}

// 24 layers: forward keeps an activation of each and uses a temporary, backward goes back through
// them. 97 blocks of 8 sizes, 330 MiB at most.
void step()
{
    constexpr int kLayers = 24;
    const size_t kActivations[] = {4 * kMiB, 16 * kMiB, 12 * kMiB, 20 * kMiB};
    const size_t kTemporaries[] = {256 * kKiB, 3 * kMiB, 7 * kMiB, 512};
    std::vector<char*> kept;
    for (int layer = 0; layer < kLayers; ++layer) {
        const size_t bytes = kActivations[layer % 4];
        kept.push_back(allocate(bytes));
        char* const temporary = allocate(kTemporaries[layer % 4]);
        queue_work(temporary, kTemporaries[layer % 4]);
        queue_work(kept.back(), bytes);
        release(temporary);
    }
    char* const loss = allocate(4);
    queue_work(loss, 4);
    for (int layer = kLayers - 1; layer >= 0; --layer) {
        const size_t bytes = kActivations[layer % 4];
        char* const gradient = allocate(bytes);
        char* const temporary = allocate(kTemporaries[(layer + 1) % 4]);
        queue_work(gradient, bytes);
        release(temporary);
        release(kept[static_cast<size_t>(layer)]);
        release(gradient);
    }
    release(loss);
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4)
        return 2;
    async = std::strcmp(argv[2], "async") == 0;
    const int count = std::atoi(argv[3]);
    if (std::strcmp(argv[1], "pairs") == 0)
        pairs(count);
    else
        measure("step", count, step);
    return 0;
}
