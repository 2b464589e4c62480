// tools/simgpu/driver/module/image.hpp — for which architectures an image was built: fat binaries,
// cubins and PTX.
#pragma once

namespace simgpu {

// As CU_FUNC_ATTRIBUTE_PTX_VERSION and _BINARY_VERSION tell them: 75 for compute_75 and sm_75.
struct Architectures {
    int ptx;
    int binary;
};

// Of what this device would run of the image. Where nothing in it is for this device, of the newest
// thing in it: a simulated device stands for the one that the program was built for. An image that
// is of no known form is taken for one that was built for the device.
Architectures architectures_of(const void* image, int device);

} // namespace simgpu
