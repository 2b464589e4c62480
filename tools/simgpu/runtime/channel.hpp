// tools/simgpu/runtime/channel.hpp — channel descriptors as the driver's formats, and back.
#pragma once

#include "tools/simgpu/runtime/call.hpp"

namespace simgpu::runtime {

// The format of channels of one width and kind, which arrays have; false for others.
bool format_of(const cudaChannelFormatDesc& desc, CUarray_format& format, unsigned& channels);
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels);
// 0 for a format that the runtime does not make.
size_t bytes_of(CUarray_format format);

} // namespace simgpu::runtime
