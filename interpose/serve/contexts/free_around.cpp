// interpose/serve/contexts/free_around.cpp — asks in the current context, and times the answer.
#include "interpose/serve/contexts/free_around.hpp"

#include <atomic>
#include <ctime>

#include "interpose/hooks/inside_driver.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/patience.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "tracker/capture/clock.hpp"

namespace vramscope::hooks {
namespace {

constinit Patience patience(200'000);
constinit std::atomic<std::uint64_t> asking_ns{0};

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

} // namespace

FreeMemory ask_free_memory() noexcept
{
    if (log::settings().device_memory == log::Interval::kNever || !pooling() || passing_through() ||
        patience.is_over())
        return {};
    std::size_t free = 0;
    std::size_t total = 0;
    const std::uint64_t began = capture::clock_ns(CLOCK_MONOTONIC);
    const bool answered = ask_driver(free, total);
    const std::uint64_t took = capture::clock_ns(CLOCK_MONOTONIC) - began;
    asking_ns.fetch_add(took, std::memory_order_relaxed);
    patience.note(took);
    return answered ? FreeMemory{free, total} : FreeMemory{};
}

bool may_ask_often() noexcept
{
    constexpr std::uint64_t kAlwaysNs = 2'000'000;
    constexpr std::uint64_t kOneOf = 100;
    if (log::process->generation.load(std::memory_order_acquire) == 0)
        return false;
    const std::uint64_t runs_ns =
        capture::clock_ns(CLOCK_MONOTONIC) - log::process->header->start_ns;
    return asking_ns.load(std::memory_order_relaxed) < kAlwaysNs + runs_ns / kOneOf;
}

void FreeAround::before(CUdevice device) noexcept
{
    device_ = device;
    if (is_current(device))
        free_ = ask_free_memory().free;
}

format::ContextOpened FreeAround::after(format::Opening opening) const noexcept
{
    format::ContextOpened opened = opened_as(opening);
    const FreeMemory now = device_ >= 0 && is_current(device_) ? ask_free_memory() : FreeMemory{};
    if (now.total != 0) {
        opened.free_before = free_;
        opened.free_after = now.free;
        opened.total = now.total;
    }
    return opened;
}

} // namespace vramscope::hooks
