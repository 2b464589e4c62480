// interpose/serve/pools/shortage.hpp — device memory is short: what is cached goes back.
//
// Any thread, inside a hook, with no lock held.
#pragma once

#include <atomic>

#include "interpose/hooks/call.hpp"
#include "interpose/serve/pools/driver_upstream.hpp"

namespace vramscope::hooks {

// Gives what is cached for this device back to the driver, and returns how many bytes. `except`
// is empty already.
std::uint64_t give_back(std::int64_t device, const DriverUpstream* except) noexcept;
std::uint64_t releasable_bytes(std::int64_t device) noexcept;
// What the pools did not serve, while there are pools. A thread that frees to a pool may take such
// memory next: the two were never live at one moment.
inline constinit std::atomic<std::uint64_t> direct_allocations{0};
// What all threads do with what is pooled on this device, or was allocated past the pools on any.
pool::Traffic traffic_of(std::int64_t device) noexcept;
// Sleeps, longer with each try.
void let_others_go_on(int tries) noexcept;
// Memory was short in an entry point that the pool does not serve, for the first time if `tries`
// is 0. True: try it again.
bool make_room_for(Call& call, int tries) noexcept;
// A call that would have allocated or pinned so many bytes failed.
void record_refusal(Call& call, CUresult result, std::uint64_t bytes) noexcept;
// An allocation failed. If memory was short, how it stood is recorded too. `bytes` is the least
// that was asked for; 0 where the arguments do not tell: then only a shortage is recorded.
void record_shortage(Call& call, CUresult result, std::uint64_t bytes) noexcept;

} // namespace vramscope::hooks
