// interpose/serve/context_pools.hpp — the pools of the process: one for each context, made when it
// first allocates, forgotten with it.
//
// Any thread, inside a hook. The child of a fork has none of its parent's.
#pragma once

#include "interpose/serve/context_pool.hpp"

namespace vramscope::hooks {

// False: everything goes to the driver, as if there were no pool.
bool pooling() noexcept;

// The pool of a context; null: there are too many.
ContextPool* pool_of(const format::Place& place) noexcept;

// The pool at or after `at`, which moves behind it; null: there are no more.
ContextPool* next_pool(std::size_t& at) noexcept;
// Every pool of this process. Another thread may add one meanwhile.
template <class Visit>
void each_pool(Visit visit) noexcept
{
    std::size_t at = 0;
    while (ContextPool* one = next_pool(at))
        visit(*one);
}

// A graph that can be launched may hold any address that is live now.
void graph_may_hold_memory() noexcept;
void executable_made() noexcept;
void executable_gone() noexcept;

// The context is gone, with its memory.
void pool_context_gone(std::uint64_t id) noexcept;

// A handler of this thread left a pool by a jump, around near_pool_lock: if in the middle of a
// change, pools are used no more.
void leave_pool_lock() noexcept;

} // namespace vramscope::hooks
