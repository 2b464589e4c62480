// interpose/serve/contexts/mempools.hpp — CUDA's own pools (CUmemoryPool), for the log.
//
// It knows where their memory lies, and which one a device's cuMemAllocAsync takes from. A pool is
// written down where it is first seen, and again in the log of a forked child. The table is
// bounded; a pool that does not fit is written down each time it is seen. Any thread, and no call
// of the driver.
#pragma once

#include "interpose/hooks/hook.hpp"

namespace vramscope::hooks {

// `maximum`: that the program set it as it made it; 0: none, or it was not seen.
void note_mempool(log::Thread& thread, const format::Pool& pool,
                  std::uint64_t maximum = 0) noexcept;
struct Mempool {
    CUmemoryPool handle = nullptr;
    std::uint64_t maximum = 0;
};
// The first pool of a device that was noted, or the one behind `at`, which is moved there. A null
// handle: there is none.
Mempool next_mempool(std::size_t& at, std::int64_t device) noexcept;
// Where a pool that was noted has its memory; -1: not on a device, or it was not seen.
std::int64_t device_of_mempool(CUmemoryPool pool) noexcept;
// To be called before the driver destroys the pool: another pool may get its handle as soon as
// it is gone.
void forget_mempool(CUmemoryPool pool) noexcept;

void set_current_mempool(CUdevice device, CUmemoryPool pool) noexcept;
void mempool_gone(CUmemoryPool pool) noexcept; // its device goes back to the default pool
// Null: the program never chose one, so it is the device's default pool.
CUmemoryPool current_mempool(std::int64_t device) noexcept;

} // namespace vramscope::hooks
