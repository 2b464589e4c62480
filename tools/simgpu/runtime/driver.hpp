// tools/simgpu/runtime/driver.hpp — the driver as the runtime knows it.
//
// It is found as NVIDIA's runtime finds it, so that an interposer sees the same:
// dlopen("libcuda.so.1"), one dlsym("cuGetProcAddress_v2"), a look-up of cuGetProcAddress itself,
// and everything else through the pointer that this look-up returned.
#pragma once

#include "tools/simgpu/runtime/cudart.hpp"
#include "tools/simgpu/simgpu.h"

namespace simgpu::runtime {

// The functions with a default stream, which exist in two flavours.
struct StreamCalls {
#define SIMGPU_CALL(name, version, ...)
#define SIMGPU_STREAM_CALL(name, version, per_thread, ...) PFN_##name##_v##version name;
#include "tools/simgpu/runtime/driver_calls.def"
};

struct Driver {
#define SIMGPU_CALL(name, version, ...) PFN_##name##_v##version name;
#define SIMGPU_STREAM_CALL(name, version, per_thread, ...)
#include "tools/simgpu/runtime/driver_calls.def"
    StreamCalls legacy;
    StreamCalls per_thread;
    // The look-up function of the driver, as the driver handed it out.
    void* get_proc_address;
    // Only the simulated driver has it (simgpu.h); null in any other.
    decltype(&simgpu_set_variable_bytes) set_variable_bytes;
};

// Null, with the reason, if there is no usable driver. Opened at the first call, once.
const Driver* driver(CUresult& why_not);
const Driver* opened_driver();

// cuGetProcAddress for cudaGetDriverEntryPoint. Its two forms differ in the status.
CUresult look_up(const Driver& driver, const char* name, void** function, int version,
                 cuuint64_t flags, int* status);

} // namespace simgpu::runtime
