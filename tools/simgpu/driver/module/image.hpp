// tools/simgpu/driver/module/image.hpp — the architectures that an image was built for.
#pragma once

namespace simgpu {

// Numbers as in CU_FUNC_ATTRIBUTE_PTX_VERSION and _BINARY_VERSION: 75 for compute_75 and sm_75.
struct Architectures {
    int ptx;
    int binary;
};

// The architectures of what this device would run of a fat binary, a cubin or PTX. If nothing in it
// is for this device, those of the newest thing in it: a simulated device stands for the one that
// the program was built for. An image in no known form counts as built for the device.
Architectures architectures_of(const void* image, int device);

} // namespace simgpu
