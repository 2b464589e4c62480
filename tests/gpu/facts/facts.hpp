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

/// Bytes that the driver says are free.
std::size_t free_bytes();

/// What the process has at an address: a file's name, "anonymous", "[heap]", "[stack]", "nothing"; with
/// its permissions.
std::string mapping_of(std::uintptr_t address);

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
