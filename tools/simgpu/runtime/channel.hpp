// tools/simgpu/runtime/channel.hpp — channel descriptors as the driver's formats, and back.
#pragma once

#include "tools/simgpu/runtime/call.hpp"

namespace simgpu::runtime {

// Channels of one width and kind, as arrays have them; false for others.
bool format_of(const cudaChannelFormatDesc& desc, CUarray_format& format, unsigned& channels);
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels);
// 0 for a format that the runtime does not make.
size_t bytes_of(CUarray_format format);

} // namespace simgpu::runtime
