// tests/corpus/corpus.hpp — what the programs of the corpus share: a check after each call, sizes,
// and the names that differ from toolkit to toolkit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <cuda.h>
#include <cuda_runtime.h>

constexpr std::size_t operator""_KiB(unsigned long long value)
{
    return value << 10;
}
constexpr std::size_t operator""_MiB(unsigned long long value)
{
    return value << 20;
}

// Ends the program as no truth expects it.
inline void check(cudaError_t result)
{
    if (result == cudaSuccess)
        return;
    std::fprintf(stderr, "corpus: %s\n", cudaGetErrorString(result));
    std::_Exit(97);
}
inline void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    std::fprintf(stderr, "corpus: the driver answered %d\n", static_cast<int>(result));
    std::_Exit(97);
}

// Ends a program that its toolkit is too old for: it is skipped by name.
[[noreturn]] inline void needs_cuda(const char* version)
{
    std::printf("needs CUDA %s\n", version);
    std::fflush(stdout);
    std::_Exit(77);
}

// A call at the end of a function is a jump where it is the last thing there.
inline void keep_frame()
{
    asm volatile("");
}

// Numbers that look random and are the same in each run.
class Noise {
public:
    explicit Noise(std::uint32_t seed) : state_(seed) {}
    std::uint32_t below(std::uint32_t limit)
    {
        state_ = state_ * 1664525U + 1013904223U;
        return (state_ >> 8) % limit;
    }

private:
    std::uint32_t state_;
};

inline CUcontext new_context(CUdevice device = 0)
{
    CUcontext context = nullptr;
#if CUDA_VERSION >= 13000
    check(cuCtxCreate(&context, nullptr, 0, device));
#else
    check(cuCtxCreate(&context, 0, device));
#endif
    return context;
}

inline cudaGraphExec_t instantiate(cudaGraph_t graph)
{
    cudaGraphExec_t executable = nullptr;
#if CUDART_VERSION >= 12000
    check(cudaGraphInstantiate(&executable, graph, 0));
#else
    check(cudaGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
#endif
    return executable;
}

// Properties of physical memory on a device, and the right to use it there.
inline CUmemAllocationProp on_device(int device = 0)
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return properties;
}
inline void let_use(CUdeviceptr address, std::size_t bytes, int device = 0)
{
    CUmemAccessDesc access{};
    access.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(cuMemSetAccess(address, bytes, &access, 1));
}
