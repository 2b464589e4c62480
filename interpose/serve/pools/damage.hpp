// interpose/serve/pools/damage.hpp — what wrote where it must not?
//
// VRAMSCOPE_POISON and VRAMSCOPE_GUARD look for it. Poison fills what the pool has and does not
// give out; a byte that has changed when its block is handed out was written after the free. A
// guard is 512 bytes on both sides of a block; it is looked at when the block is freed. Both wait
// for the device at each free: for finding faults, not for every day.
#pragma once

#include "interpose/hooks/call.hpp"
#include "interpose/serve/pools/context_pools.hpp"
#include "tracker/environment/settings.hpp"

namespace vramscope::hooks {

inline std::uint64_t red_zone_bytes() noexcept
{
    return log::settings().guard ? format::kRedZoneBytes : 0;
}

inline bool checks_memory() noexcept
{
    const log::Settings& settings = log::settings();
    return settings.poison >= 0 || settings.guard;
}

// A segment that just came from the driver.
void poison_segment(log::Thread& thread, std::uint64_t address, std::uint64_t bytes) noexcept;
// A block that is about to be the program's, with its red zones.
void prepare_block(Call& call, const pool::Allocation& block, std::uint64_t requested) noexcept;
// Of a block of the program's that is about to be freed, whatever context is current; the device
// has nothing left to do. Nothing happens where the pool has no such block.
void check_red_zones(Call& call, ContextPool& owner, std::uint64_t address) noexcept;
// The same, of one that the pool is about to keep.
void poison_block(Call& call, ContextPool& owner, std::uint64_t address) noexcept;

} // namespace vramscope::hooks
