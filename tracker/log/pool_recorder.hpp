// tracker/log/pool_recorder.hpp — what the internal pool tells: segments, reuse, memory that was
// short.
//
// As recorder.hpp: the thread must be ready, nothing throws, nothing allocates. Sizes in bytes.
#pragma once

#include "tracker/log/recorder.hpp"

namespace vramscope::log {

// Memory taken from the driver: recorded before the allocation that it was taken for.
void record_segment(Thread& thread, std::uint64_t address, std::uint64_t bytes,
                    const format::Place& place) noexcept;
// `ticks` is from before the driver's call that frees it.
void record_segment_gone(Thread& thread, std::uint64_t ticks, std::uint64_t address,
                         format::SegmentEnd end) noexcept;
// What was freed before `before` may be handed out again.
void record_reusable(Thread& thread, std::uint64_t before, bool own) noexcept;
void record_retried(Thread& thread, std::uint64_t api, int device, std::uint64_t bytes,
                    int result) noexcept;

// How a device's memory stood when an allocation of the program failed for want of it.
struct MemoryState {
    int device = -1;
    std::uint64_t requested = 0;
    std::uint64_t free = 0;  // as the driver says
    std::uint64_t total = 0; // as the driver says, or the limit that was set
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t largest_gap = 0; // of what the pool holds
};
void record_out_of_memory(Thread& thread, std::uint64_t api, const MemoryState& state) noexcept;

// A device's memory as the driver itself gave it at `ticks`.
void record_device_memory(Thread& thread, std::uint64_t ticks, int device, std::uint64_t free,
                          std::uint64_t total) noexcept;

struct DamagedBlock {
    format::Damage kind;
    std::uint64_t address; // of the block, as the program knows it
    std::int64_t offset;   // of the first wrong byte
    std::uint64_t bytes;   // wrong ones
};
void record_damaged(Thread& thread, const DamagedBlock& damage, const CallSite& site) noexcept;

} // namespace vramscope::log
