// tools/simgpu/driver/base/lookup.hpp — the rows that cuGetProcAddress answers from.
#pragma once

namespace simgpu {

struct LookupRow {
    const char* name; // without suffix: cuMemAlloc
    int version;      // the CUDA version in which this form appeared: 3020
    bool per_thread;  // the _ptds or _ptsz form
    void* function;
};
extern const LookupRow lookup_rows[];
extern const unsigned lookup_row_count;

// The CUDA version that the driver answers as: 12040 for 12.4.
int driver_version();

} // namespace simgpu
