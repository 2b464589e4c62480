// interpose/serve/contexts/free_around.cpp — asks in the current context, and times the answer.
#include "interpose/serve/contexts/free_around.hpp"

#include <atomic>
#include <ctime>

#include "interpose/hooks/inside_driver.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope::hooks {
namespace {

constexpr std::uint64_t kLongestNs = 200'000;
constinit std::atomic<bool> takes_long{false};

bool is_current(CUdevice device) noexcept
{
    const Driver* const driver = Driver::find();
    CUcontext context = nullptr;
    CUdevice current = -1;
    return driver && driver->context && driver->context_device &&
           in_driver(log::this_thread,
                     [&] {
                         return driver->context(&context) == CUDA_SUCCESS && context &&
                                driver->context_device(&current) == CUDA_SUCCESS;
                     }) &&
           current == device;
}

bool ask(CUdevice device, std::uint64_t& free, std::uint64_t& total) noexcept
{
    if (log::settings().device_memory == log::Interval::kNever || !pooling() || passing_through() ||
        takes_long.load(std::memory_order_relaxed) || !is_current(device))
        return false;
    std::size_t free_now = 0;
    std::size_t total_now = 0;
    const std::uint64_t began = capture::clock_ns(CLOCK_MONOTONIC);
    const bool answered = ask_driver(free_now, total_now);
    if (capture::clock_ns(CLOCK_MONOTONIC) - began > kLongestNs)
        takes_long.store(true, std::memory_order_relaxed);
    free = free_now;
    total = total_now;
    return answered;
}

} // namespace

void FreeAround::before(CUdevice device) noexcept
{
    device_ = device;
    std::uint64_t total = 0;
    if (!ask(device, free_, total))
        free_ = 0;
}

format::ContextOpened FreeAround::after(format::Opening opening) const noexcept
{
    format::ContextOpened opened = opened_as(opening);
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    if (device_ >= 0 && ask(device_, free, total)) {
        opened.free_before = free_;
        opened.free_after = free;
        opened.total = total;
    }
    return opened;
}

} // namespace vramscope::hooks
