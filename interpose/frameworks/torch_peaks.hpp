// interpose/frameworks/torch_peaks.hpp — the most that PyTorch's blocks had on a device.
//
// Programs that watch it begin it anew. PyTorch counts such a peak too, but to begin that one anew
// would change what PyTorch tells the program itself.
#pragma once

#include <cstdint>

namespace vramscope::hooks {

// `allocated`: what its blocks have from now on, in bytes. One thread at a time for each device.
void note_torch_blocks(std::int64_t device, std::uint64_t allocated) noexcept;

} // namespace vramscope::hooks
