// tests/corpus/arrays.hpp — an array, and how views of it are asked for, for programs of the corpus.
#pragma once

#include "tests/corpus/corpus.hpp"

inline cudaResourceDesc resource_of(cudaArray_t array)
{
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

inline cudaArray_t new_array()
{
    const cudaChannelFormatDesc format =
        cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
    cudaArray_t array = nullptr;
    check(cudaMallocArray(&array, &format, 64, 64, cudaArraySurfaceLoadStore));
    return array;
}
