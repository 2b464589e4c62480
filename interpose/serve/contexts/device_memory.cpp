// interpose/serve/contexts/device_memory.cpp — when we ask, and for which device.
#include "interpose/serve/contexts/device_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "interpose/hooks/call.hpp"
#include "interpose/hooks/inside_driver.hpp"
#include "interpose/hooks/run_as_hook.hpp"
#include "interpose/serve/contexts/captures.hpp"
#include "interpose/serve/contexts/contexts.hpp"
#include "interpose/serve/contexts/limits.hpp"
#include "interpose/serve/contexts/mempools.hpp"
#include "interpose/serve/contexts/pooling.hpp"
#include "tracker/capture/glibc.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/log/nesting.hpp"
#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

constinit std::atomic<std::uint64_t> due_ticks{0}; // kNever: we ask none
constinit std::atomic<std::uint64_t> mempool_devices{0};

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMarksPerInterval = 10;
constexpr std::int64_t kUnknownDevice = 63; // the bit of -1, and of none that there is

constinit std::atomic<std::uint64_t> told_ticks{0};
constinit std::atomic<std::uint64_t> told_free{kNever};

std::uint64_t interval_ticks(std::uint64_t ticks) noexcept
{
    const std::uint64_t milliseconds = log::settings().device_memory;
    if (milliseconds == log::Interval::kNever)
        return kNever;
    const format::FileHeader& header = *log::process->header;
    const auto elapsed_ns =
        static_cast<double>(capture::clock_ns(CLOCK_MONOTONIC) - header.start_ns);
    const double per_ns = static_cast<double>(ticks - header.start_ticks) / (elapsed_ns + 1);
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6 * per_ns);
}

void tell(log::Thread& thread, std::uint64_t ticks, std::int64_t device, std::uint64_t free,
          std::uint64_t total) noexcept
{
    told_ticks.store(ticks, std::memory_order_relaxed);
    told_free.store(free, std::memory_order_relaxed);
    const std::uint64_t interval = interval_ticks(ticks);
    due_ticks.store(interval == kNever ? kNever : ticks + interval, std::memory_order_relaxed);
    log::write(thread, {ticks}, format::DeviceMemory{device, free, total});
}

// Only one thread asks, however many come at once.
bool is_our_turn(std::uint64_t ticks) noexcept
{
    std::uint64_t due = due_ticks.load(std::memory_order_relaxed);
    if (ticks < due || passing_through())
        return false;
    const std::uint64_t interval = interval_ticks(ticks);
    return due_ticks.compare_exchange_strong(due, interval == kNever ? kNever : ticks + interval) &&
           interval != kNever;
}

void ask_and_tell(log::Thread& thread, std::int64_t device) noexcept
{
    std::size_t free = 0;
    std::size_t total = 0;
    if (device < 0 || !ask_driver(free, total))
        return;
    tell(thread, log::now(), device, free, total);
    tell_mempools(thread, device);
}

// `number`: of the pool in the log, where 0 is the device's default pool.
void tell_mempool(log::Thread& thread, const Driver& driver, std::int64_t device,
                  const Mempool& pool, std::uint64_t number) noexcept
{
    MempoolBytes bytes;
    const bool known = in_driver(thread, [&] { return ask_mempool(driver, pool.handle, bytes); });
    if (known && (bytes.reserved || pool.maximum))
        log::write(thread, {log::now()},
                   format::MempoolMemory{number, device, bytes.reserved, bytes.used, pool.maximum});
}

// Without a pool we do not know of captures, but what waits for the device is forbidden during one:
// where it was allowed, so are we.
bool may_ask_after(Hook hook, const format::Place& place) noexcept
{
    const format::Memory memory = info(hook).memory;
    if (format::class_of(memory) != format::MemoryClass::device)
        return false;
    const bool waits = memory != format::Memory::async && memory != format::Memory::physical;
    return waits || (pooling() && !place.capturing);
}

// What the pools kept in the end is never sampled else, for a program frees last.
void tell_mempools_at_exit() noexcept
{
    const log::CallSite here{0, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
    const Driver* const driver = Driver::find();
    if (!driver || due_ticks.load(std::memory_order_relaxed) == kNever || passing_through() ||
        exiting())
        return;
    run_as_hook(here, [driver](log::Thread& thread) {
        const std::int64_t current = place_in(thread, *driver, nullptr).device;
        ask_and_tell(thread, current);
        for (std::int64_t device = 0; device < kUnknownDevice; ++device)
            if (device != current)
                tell_mempools(thread, device);
    });
}

} // namespace

// What is registered after the driver was initialised runs before the driver's own handlers at
// exit, so that it is whole when it is asked.
[[gnu::cold]] void first_use_of_mempools(std::int64_t device) noexcept
{
    const std::uint64_t bit = std::uint64_t{1} << (device & 63);
    if (mempool_devices.fetch_or(bit) == 0)
        ::on_exit([](int, void*) { tell_mempools_at_exit(); }, nullptr);
}

void program_asked_memory(Call& call, std::uint64_t free, std::uint64_t total) noexcept
{
    const std::uint64_t ticks = log::now();
    const bool same = free == told_free.load(std::memory_order_relaxed);
    if (same && ticks - told_ticks.load(std::memory_order_relaxed) < interval_ticks(ticks))
        return;
    if (const std::int64_t device = place_now(call).device; device >= 0)
        tell(call.thread, ticks, device, free, total);
}

[[gnu::cold]] void ask_after(Call& call, const format::Place& place, std::uint64_t ticks) noexcept
{
    if (may_ask_after(call.hook, place) && is_our_turn(ticks))
        ask_and_tell(call.thread, place_now(call).device);
}

void tell_mempools(log::Thread& thread, std::int64_t device) noexcept
{
    const bool used = device >= 0 && device < kUnknownDevice &&
                      mempool_devices.load(std::memory_order_relaxed) >> device & 1;
    const Driver* const driver = used ? Driver::find() : nullptr;
    if (!driver || !driver->default_pool || !driver->pool_attribute)
        return;
    CUmemoryPool default_pool = nullptr;
    const CUresult result = in_driver(
        thread, [&] { return driver->default_pool(&default_pool, static_cast<CUdevice>(device)); });
    if (result == CUDA_SUCCESS && default_pool)
        tell_mempool(thread, *driver, device, {default_pool, 0}, 0);
    Mempool pool;
    for (std::size_t at = 0; (pool = next_mempool(at, device)).handle;)
        if (pool.handle != default_pool)
            tell_mempool(thread, *driver, device, pool, number(pool.handle));
}

void segment_taken(log::Thread& thread, std::int64_t device) noexcept
{
    if (is_our_turn(log::now()))
        ask_and_tell(thread, device);
}

void moment_named() noexcept
{
    log::Thread& thread = log::this_thread;
    if (due_ticks.load(std::memory_order_relaxed) == kNever || !log::is_ready(thread) ||
        !log::is_in_program(thread, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))))
        return;
    if (!pooling()) { // we do not know of captures: the next allocation is the moment to ask
        due_ticks.store(0, std::memory_order_relaxed);
        return;
    }
    const int program_errno = errno;
    thread.inside = log::Inside::recorder;
    const std::uint64_t ticks = log::now();
    const Driver* driver = Driver::find();
    if (driver && !passing_through() &&
        ticks - told_ticks.load(std::memory_order_relaxed) >=
            interval_ticks(ticks) / kMarksPerInterval)
        ask_and_tell(thread, place_in(thread, *driver, nullptr).device);
    thread.inside = log::Inside::program;
    errno = program_errno;
}

} // namespace vramscope::hooks
