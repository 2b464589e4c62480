// interpose/frameworks/torch_peaks.cpp — one row for each device.
#include "interpose/frameworks/torch_peaks.hpp"

#include <array>
#include <atomic>
#include <cstddef>

#include "interpose/vramscope.h"

namespace vramscope::hooks {
namespace {

struct TorchBlocks {
    std::atomic<bool> told;
    std::atomic<std::uint64_t> now;
    std::atomic<std::uint64_t> peak;
};
constinit std::array<TorchBlocks, 64> of_devices{};

TorchBlocks* torch_blocks_on(std::int64_t device) noexcept
{
    const auto at = static_cast<std::size_t>(device);
    return device >= 0 && at < of_devices.size() ? &of_devices[at] : nullptr;
}

} // namespace

void note_torch_blocks(std::int64_t device, std::uint64_t allocated) noexcept
{
    TorchBlocks* const blocks = torch_blocks_on(device);
    if (!blocks)
        return;
    blocks->now.store(allocated, std::memory_order_relaxed);
    if (allocated > blocks->peak.load(std::memory_order_relaxed))
        blocks->peak.store(allocated, std::memory_order_relaxed);
    blocks->told.store(true, std::memory_order_release);
}

} // namespace vramscope::hooks

extern "C" __attribute__((visibility("default"))) int
vramscope_torch_take_peak(int device, std::uint64_t* allocated, std::uint64_t* peak)
{
    using namespace vramscope;
    hooks::TorchBlocks* const blocks = hooks::torch_blocks_on(device);
    if (!blocks || !blocks->told.load(std::memory_order_acquire))
        return -1;
    *allocated = blocks->now.load(std::memory_order_relaxed);
    *peak = blocks->peak.exchange(*allocated, std::memory_order_relaxed);
    return 0;
}
