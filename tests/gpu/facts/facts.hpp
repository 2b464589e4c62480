// tests/gpu/facts/facts.hpp — what a driver does, asked by experiment: one line for each fact, without
// vramscope. Each part is started alone (`driver_facts PART`), so that one which ends badly hides no
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#include "tests/gpu/check.hpp"

namespace facts {

/// Keeps the GPU busy for so long, by a kernel in this stream.
void keep_busy(unsigned long long nanoseconds, cudaStream_t stream = nullptr);
/// That kernel, which takes the nanoseconds: for nodes of graphs.
void* kernel();

/// The name of an error, without the prefix that all have: "OK" for none.
std::string name_of(CUresult result);
std::string name_of(cudaError_t result);

/// What is asked needs this to succeed: else its error, and the end.
void require(CUresult result);

/// Bytes that the driver says are free, and how many less there are than before.
std::size_t free_bytes();
std::ptrdiff_t fall_since(std::size_t before);

/// Of memory on the first device, and of a pool there.
CUmemAllocationProp on_device();
CUmemPoolProps pool_on_device();

/// What the process has mapped: [begin, end), "r--p", and a file's path, "[heap]", "anonymous".
struct Mapping {
    std::uintptr_t begin = 0, end = 0;
    std::string permissions, name;
};
std::vector<Mapping> mappings();

void tell_lookups(
    const std::vector<std::string>& names); ///< of driver functions, as libcuda exports them
void tell_waits();
void tell_errors();
void tell_outputs();
void tell_imports();
void tell_layout();
void tell_contents();
void tell_objects();
void tell_hosts();
void tell_books();

} // namespace facts
