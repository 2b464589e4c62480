// tests/gpu/check.hpp — a call of the CUDA runtime that must succeed: else its name, and the end.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t status = (call);                                                         \
        if (status != cudaSuccess) {                                                               \
            std::printf("%s:%d: %s\n", #call, __LINE__, cudaGetErrorString(status));               \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)
