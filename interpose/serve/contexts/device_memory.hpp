// interpose/serve/contexts/device_memory.hpp — how much memory of the device the driver calls free.
//
// These are samples for the current context's device, and for all processes together. When the
// program asks, the answer of the driver is recorded. We ask by ourselves after allocations that
// reached the driver, at most once in VRAMSCOPE_DEVICE_MEMORY, and at marks: for the driver's own
// pools too, and for these as exit() begins. Never while a stream is captured, or later in an exit.
// Inside a hook, with no lock held.
#pragma once

#include <atomic>

#include "tracker/log/recorder.hpp"

namespace vramscope::hooks {

struct Call;

// The driver's answer to the program, before it is corrected.
void program_asked_memory(Call& call, std::uint64_t free, std::uint64_t total) noexcept;
extern constinit std::atomic<std::uint64_t> due_ticks; // when we ask next
void ask_after(Call& call, const format::Place& place, std::uint64_t ticks) noexcept;
// An allocation of this call came from the driver, at `place`.
inline void allocated_by_driver(Call& call, const format::Place& place,
                                std::uint64_t ticks) noexcept
{
    if (ticks >= due_ticks.load(std::memory_order_relaxed)) [[unlikely]]
        ask_after(call, place, ticks);
}
// The pool took a segment from the driver for an allocation of this thread, on `device`.
void segment_taken(log::Thread& thread, std::int64_t device) noexcept;
// The devices whose memory the program takes through the driver's own pools, a bit for each.
extern constinit std::atomic<std::uint64_t> mempool_devices;
void first_use_of_mempools(std::int64_t device) noexcept;
inline void mempools_used(std::int64_t device) noexcept
{
    if (!(mempool_devices.load(std::memory_order_relaxed) >> (device & 63) & 1)) [[unlikely]]
        first_use_of_mempools(device);
}
// What the driver's own pools hold of this device, if any was used.
void tell_mempools(log::Thread& thread, std::int64_t device) noexcept;
// The program named this moment.
void moment_named() noexcept;

} // namespace vramscope::hooks
