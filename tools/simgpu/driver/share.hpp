// tools/simgpu/driver/share.hpp — memory of another process, seen through its file.
#pragma once

#include "tools/simgpu/driver/allocation.hpp"

namespace simgpu {

// The device that a file handed over belongs to, by the name it was made with; null for any other
// file.
Device* device_of_file(int file);
// Maps a range of it at a new address and registers it as imported.
CUresult map_foreign(int file, std::uint64_t offset, std::uint64_t bytes, Device& device,
                     Context* context, CUdeviceptr& address);

} // namespace simgpu
