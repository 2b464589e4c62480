// interpose/frameworks/torch_counts.hpp — which bytes PyTorch's allocator counts as active still.
#pragma once

#include <cstdint>

#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

// What libc10_cuda says of a device with each block, while it holds that device's lock.
struct TorchReport {
    std::int64_t device;
    std::uint64_t allocated; // bytes
    std::uint64_t reserved;
};

// Tells the log how much that was given back another stream still uses, if that has changed. To be
// called before a block that was handed out is recorded, and after one that was taken back: so the
// sum of both is never larger than PyTorch's.
void tell_pending(const log::CallSite& site, const TorchReport& report) noexcept;

} // namespace vramscope::hooks
