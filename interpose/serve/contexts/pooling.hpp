// interpose/serve/contexts/pooling.hpp — whether this process uses our pools.
//
// What lies below the pools asks it too: captures, for one, are known only where there are pools.
#pragma once

#include <atomic>

#include "tracker/environment/settings.hpp"
#include "tracker/log/process.hpp"

namespace vramscope::hooks {

// A handler's jump left a pool in the middle of a change.
inline constinit std::atomic<bool> pools_given_up{false};

// Whether this process may use pools at all.
[[gnu::always_inline]] inline bool pool_wanted() noexcept
{
    return log::settings().pool_mode != log::PoolMode::off;
}
// False: everything goes to the driver, as if there were no pool.
[[gnu::always_inline]] inline bool pooling() noexcept
{
    return pool_wanted() && log::process->generation != 0 &&
           !pools_given_up.load(std::memory_order_relaxed);
}

} // namespace vramscope::hooks
